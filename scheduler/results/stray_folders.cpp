#include "scheduler/results/stray_folders.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/parse_number.h"
#include "base/text.h"
#include "db/removed.h"
#include "scheduler/files/removed_folder.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

// Of "12"; nullopt for a name that Margay gives to nothing.
std::optional<int64_t> item_of(const std::string& name) {
  if (!base::is_digits(name) || name.front() == '0') return std::nullopt;
  return base::parse_number<int64_t>(name);
}

bool is_attempt(const std::string& name) {
  return name.starts_with('a') && item_of(name.substr(1)).has_value();
}

class Finder {
 public:
  Finder(db::Database& database, std::string jobs, int64_t now)
      : store_(database),
        jobs_(std::move(jobs)),
        latest_(now - std::chrono::duration_cast<std::chrono::seconds>(kStrayAge).count()) {}

  StrayFolders run(const std::function<void()>& look) {
    for (const auto& entry : fs::directory_iterator(jobs_)) {
      look();
      const std::string name = entry.path().filename().string();
      const auto item = item_of(name);
      if (!item) continue;
      // An item has its record before it has a folder.
      if (store_.is_named(*item)) {
        if (store_.has_ended(*item)) look_into(name, *item);
      } else if (store_.was_removed(*item)) {
        take(name);
      } else {
        found_.unknown.push_back(*item);
      }
    }
    std::sort(found_.names.begin(), found_.names.end());
    std::sort(found_.unknown.begin(), found_.unknown.end());
    return std::move(found_);
  }

 private:
  void look_into(const std::string& name, int64_t item) {
    const fs::path folder = fs::path(jobs_) / name;
    if (!fs::is_directory(fs::symlink_status(folder))) return;
    std::set<std::string> known;
    for (const std::string& directory : store_.directories(item)) {
      known.insert(fs::path(directory).filename().string());
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string attempt = entry.path().filename().string();
      if (is_attempt(attempt) && known.count(attempt) == 0) take(name + "/" + attempt);
    }
  }

  void take(const std::string& name) {
    if (newest_change(jobs_ + "/" + name) > latest_) {
      ++found_.young;
    } else {
      found_.names.push_back(name);
    }
  }

  const db::RemovedItemStore store_;
  const std::string jobs_;
  const int64_t latest_;
  StrayFolders found_{};
};

}  // namespace

StrayFolders find_stray_folders(db::Database& database, const std::string& jobs, int64_t now,
                                const std::function<void()>& look) {
  return Finder(database, jobs, now).run(look);
}

}  // namespace scheduler
