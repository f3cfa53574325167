#include "scheduler/daemon/housekeeper.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "scheduler/daemon/manifest_result.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/files/removed_folder.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr int64_t kRemovalsAtOnce = 100;
constexpr std::chrono::seconds kLongestStep{1};

}  // namespace

Housekeeper::Housekeeper(HousekeeperContext context) : context_(std::move(context)) {}

void Housekeeper::say_once(const std::string& problem) {
  if (problem == last_problem_) return;
  last_problem_ = problem;
  if (context_.log) context_.log("folders of removed items stay for now: " + problem);
}

bool Housekeeper::finish_removal(const db::Removal& removal, Removed& sum) {
  const fs::path folder = removal.folder;
  const std::string jobs = folder.parent_path().string();
  const std::string name = folder.filename().string();
  try {
    // Another file system, or none, may be in its place.
    if (std::string why = why_not_ours(jobs, context_.database.instance()); !why.empty()) {
      say_once(why);
      return false;
    }
    sum.bytes += removal.results.empty()
                     ? remove_folder(jobs, name, context_.crash)
                     : remove_all_but(jobs, name, removal.results, is_result_file, context_.crash);
  } catch (const std::system_error& error) {
    say_once(error.what());
    return false;
  }
  db::RemovedItemStore(context_.database).finish_removal(removal.id);
  ++sum.folders;
  return true;
}

// One that cannot be removed does not keep the others from being.
Housekeeper::Removed Housekeeper::finish_removals(const std::function<bool()>& time_is_up) {
  Removed sum;
  const db::RemovedItemStore store(context_.database);
  for (;;) {
    const auto removals = store.removals(tried_, kRemovalsAtOnce);
    for (const db::Removal& removal : removals) {
      if (stopped_ || time_is_up()) return sum;
      finish_removal(removal, sum);
      tried_ = removal.id;
    }
    if (removals.empty()) break;
  }
  tried_ = 0;
  return sum;
}

bool Housekeeper::step() {
  const std::scoped_lock lock(mutex_);
  const auto begin = Steady::now();
  finish_removals([begin] { return Steady::now() - begin >= kLongestStep; });
  return tried_ != 0 && !stopped_;
}

}  // namespace scheduler
