#include "scheduler/files/jobs_owner.h"

#include "base/atomic_file.h"
#include "base/read_file.h"
#include "base/text.h"

namespace scheduler {

std::string claim_jobs(const std::string& jobs, const std::string& instance) {
  const std::string path = jobs + "/" + kOwnerFile;
  const std::string owner = base::trimmed(base::read_file(path).value_or(""));
  if (!owner.empty()) return owner;
  base::write_file_atomically(path, instance + "\n", {.mode = 0644});
  return base::trimmed(base::read_file(path).value_or(""));
}

bool is_claimed_by(const std::string& jobs, const std::string& instance) {
  const auto owner = base::read_file(jobs + "/" + kOwnerFile);
  return owner && base::trimmed(*owner) == instance;
}

}  // namespace scheduler
