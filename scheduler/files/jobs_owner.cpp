#include "scheduler/files/jobs_owner.h"

#include "base/atomic_file.h"
#include "base/read_file.h"
#include "base/text.h"

namespace scheduler {

std::string claim_jobs(const std::string& jobs, const std::string& instance) {
  const std::string path = jobs + "/" + kOwnerFile;
  const auto owner = [&] { return base::trimmed(base::read_file(path).value_or("")); };
  if (const std::string known = owner(); !known.empty()) return known;
  // Of two daemons that start at once only one can make it.
  const bool made = base::write_new_file_atomically(path, instance + "\n", {.mode = 0644});
  if (const std::string first = owner(); made || !first.empty()) return first;
  // One that is empty was left by hand.
  base::write_file_atomically(path, instance + "\n", {.mode = 0644});
  return owner();
}

bool is_claimed_by(const std::string& jobs, const std::string& instance) {
  const auto owner = base::read_file(jobs + "/" + kOwnerFile);
  return owner && base::trimmed(*owner) == instance;
}

}  // namespace scheduler
