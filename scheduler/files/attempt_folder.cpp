#include "scheduler/files/attempt_folder.h"

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/parse_number.h"

namespace scheduler {

namespace fs = std::filesystem;

constexpr int kMostAttempts = 1'000'000;  // of one item

std::string item_folder(const std::string& jobs, int64_t item_id) {
  return jobs + "/" + std::to_string(item_id);
}

std::string attempt_folder(const std::string& jobs, int64_t item_id, int number) {
  return item_folder(jobs, item_id) + "/a" + std::to_string(number);
}

int highest_claimed(const std::string& jobs, int64_t item_id) {
  const fs::path folder = item_folder(jobs, item_id);
  int highest = 0;
  if (!fs::is_directory(folder)) return highest;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto number = name[0] == 'a' ? base::parse_number<int>(name.substr(1)) : std::nullopt;
    // A folder of no attempt may bear any number; counting on from the largest would overflow.
    const bool counts = number && *number < kMostAttempts;
    if (counts && fs::exists(entry.path() / kClaimFolder)) highest = std::max(highest, *number);
  }
  return highest;
}

void set_fence(const std::string& item_folder, int number) {
  base::write_file_atomically(item_folder + "/" + kFenceFile, std::to_string(number) + "\n",
                              {.mode = 0640});
}

// The script takes its claim and then looks at the fence; here it is the other way round, so that
// one of the two sees the other.
bool fence_off(const std::string& attempt_folder, int number) {
  const fs::path claim = fs::path(attempt_folder) / kClaimFolder;
  if (fs::exists(claim)) return false;
  const std::string item = fs::path(attempt_folder).parent_path();
  set_fence(item, number + 1);
  if (!fs::exists(claim)) return true;
  set_fence(item, number);
  return false;
}

void make_attempt_folder(const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
}

}  // namespace scheduler
