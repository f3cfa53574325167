#include "scheduler/files/unknown_attempts.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/parse_number.h"
#include "base/sha256.h"
#include "base/untrusted_file.h"
#include "scheduler/files/attempt_folder.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestText = size_t{1} << 20;
constexpr int kMostAttempts = 1'000'000;  // of one item

int64_t modified(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mtim.tv_sec : 0;
}

// What others may have put in a script's place is not read, and the attempt has none then: its job
// and its result are found by its number.
std::string text_of(const std::string& folder, const char* name) {
  try {
    return base::read_untrusted_in(folder, name, kLongestText).value_or("");
  } catch (const base::UnfitFile&) {
    return "";
  }
}

// As its script asks; a script that the site wrote otherwise says nothing.
void read_width(db::FoundAttempt& found) {
  try {
    const slurm::Resources asked = slurm::resources_of(
        slurm::parse_directives(found.script, found.directory), found.directory);
    found.nodes = std::max(1, asked.max_nodes.value_or(1));
    found.gpus = slurm::gpus_of(asked);
  } catch (const slurm::DirectiveError&) {
    found.nodes = 1;
  }
}

db::FoundAttempt read_attempt(const std::string& jobs, int64_t item, int number) {
  db::FoundAttempt found{
      .item_id = item, .number = number, .directory = attempt_folder(jobs, item, number)};
  found.script = text_of(found.directory, kScriptFile);
  found.script_sha256 = base::sha256_of_text(found.script);
  found.config_sha256 = base::sha256_of_text(text_of(found.directory, kEngineConfigFile));
  read_width(found);
  found.created = modified(found.directory + "/" + kScriptFile);
  return found;
}

// The script is written before its attempt is stored and submitted. The manifest is what stays of
// an item that was removed.
bool may_have_job(const fs::path& folder) {
  return fs::exists(folder / kScriptFile) || fs::exists(folder / kClaimFolder) ||
         fs::exists(folder / kManifestFile);
}

std::vector<int> numbers_above(const std::string& folder, int newest) {
  std::vector<int> numbers;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const auto number = name[0] == 'a' ? base::parse_number<int>(name.substr(1)) : std::nullopt;
    const bool counts = number && *number > newest && *number < kMostAttempts;
    if (counts && may_have_job(entry.path())) numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

UnknownAttempts find_unknown_attempts(const std::string& jobs,
                                      const std::map<int64_t, int>& newest) {
  UnknownAttempts unknown;
  for (const auto& entry : fs::directory_iterator(jobs)) {
    const auto item = base::parse_number<int64_t>(entry.path().filename().string());
    if (!item || *item <= 0 || !entry.is_directory()) continue;
    unknown.highest_item = std::max(unknown.highest_item, *item);
    const auto known = newest.find(*item);
    if (known == newest.end()) {
      unknown.items.insert(*item);
      continue;
    }
    for (const int number : numbers_above(entry.path().string(), known->second)) {
      unknown.found.push_back(read_attempt(jobs, *item, number));
    }
  }
  std::sort(unknown.found.begin(), unknown.found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.item_id, a.number) < std::tie(b.item_id, b.number);
  });
  return unknown;
}

}  // namespace scheduler
