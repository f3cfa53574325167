#include "scheduler/results/housekeeper.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "db/audit.h"
#include "db/items.h"
#include "scheduler/commands/removal.h"
#include "scheduler/errors.h"
#include "scheduler/files/jobs_owner.h"
#include "scheduler/files/removed_folder.h"
#include "scheduler/policy/policy.h"
#include "scheduler/results/manifest_result.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr int64_t kRemovalsAtOnce = 100;
constexpr std::chrono::seconds kLongestStep{1};
constexpr std::chrono::milliseconds kBetweenTries{60'000};
// In one transaction, for which the API waits.
constexpr size_t kItemsAtOnce = 20;
constexpr int64_t kLinesAtOnce = 500;
constexpr std::chrono::seconds kLongestBetweenLooks{600};

// Seconds: a tenth of the shortest age, so that nothing stays much longer than it is to.
int64_t between_looks(const Retention& retention) {
  int64_t seconds = kLongestBetweenLooks.count();
  const auto limit = [&seconds](const Retention::Age& age) {
    if (age) seconds = std::clamp<int64_t>(age->count() / 10, 1, seconds);
  };
  limit(retention.age);
  limit(retention.history);
  for (const auto& [priority, age] : retention.classes) limit(age);
  return seconds;
}

const char* text_of(WhyRemoved why) {
  return why == WhyRemoved::kAge ? "older than 'retention' allows"
                                 : "beyond the 'total' of 'retention'";
}

}  // namespace

Housekeeper::Housekeeper(HousekeeperContext context)
    : context_(std::move(context)), ended_(context_.database, jobs(), retention().results) {}

void Housekeeper::say_once(const std::string& problem) {
  if (problem == last_problem_) return;
  last_problem_ = problem;
  if (context_.warn) context_.warn("folders of removed items stay for now: " + problem);
}

std::string Housekeeper::kept_in(const db::Removal& removal) const {
  if (removal.results.empty()) return "";
  const fs::path jobs = fs::path(removal.results).parent_path().parent_path();
  if (std::string why = why_not_ours(jobs.string(), context_.database.instance()); !why.empty()) {
    throw std::system_error(ENOENT, std::generic_category(),
                            "'" + removal.folder + "' stays as long as it is not known whether '" +
                                removal.results + "', which is to stay, is in it: " + why);
  }
  return path_in(removal.folder, removal.results);
}

std::optional<int64_t> Housekeeper::finish_removal(const db::Removal& removal) {
  const fs::path folder = removal.folder;
  const std::string jobs = folder.parent_path().string();
  const std::string name = folder.filename().string();
  int64_t bytes = 0;
  try {
    // Another file system, or none, may be in its place.
    if (std::string why = why_not_ours(jobs, context_.database.instance()); !why.empty()) {
      say_once(why);
      return std::nullopt;
    }
    const std::string kept = kept_in(removal);
    bytes = kept.empty() ? remove_folder(jobs, name, context_.crash)
                         : remove_all_but(jobs, name, kept, is_result_file, context_.crash);
  } catch (const std::system_error& error) {
    say_once(error.what());
    return std::nullopt;
  }
  db::RemovedItemStore(context_.database).finish_removal(removal.id);
  return bytes;
}

// One that cannot be removed does not keep the others from being, and is tried again after a while.
// False: the time was up before all were tried.
bool Housekeeper::finish_removals(const TimeIsUp& time_is_up, const OnFreed& freed) {
  const db::RemovedItemStore store(context_.database);
  const int64_t now_ms = context_.clock.boot_ms();
  if (retry_ms_ != 0 && now_ms >= retry_ms_) tried_ = retry_ms_ = 0;
  for (;;) {
    const auto removals = store.removals(tried_, kRemovalsAtOnce);
    for (const db::Removal& removal : removals) {
      if (stopped_ || time_is_up()) return false;
      if (const auto bytes = finish_removal(removal)) {
        freed(removal.item_id, *bytes);
      } else if (retry_ms_ == 0) {
        retry_ms_ = now_ms + kBetweenTries.count();
      }
      tried_ = removal.id;
    }
    if (removals.empty()) return true;
  }
}

// Within a transaction. False: it is not there any more as it was chosen.
bool Housekeeper::remove_record(const ToRemove& chosen) {
  const RemovedBy by{.time = context_.clock.now(),
                     .uid = static_cast<int64_t>(::getuid()),
                     .who = "margayd",
                     .why = text_of(chosen.why)};
  const int64_t id = chosen.item.id;
  if (const auto item = db::ItemStore(context_.database).find(id)) {
    if (!has_ended(item->state) || item->changed != chosen.item.ended) return false;
    remove_item(context_.database, *item, retention().results, by);
    return true;
  }
  const auto removed = db::RemovedItemStore(context_.database).find(id);
  if (!removed || removed->results.empty() || removed->removed != chosen.item.ended) return false;
  remove_kept_results(context_.database, id, by);
  return true;
}

std::vector<ToRemove> Housekeeper::remove_chosen(const std::vector<ToRemove>& chosen,
                                                 int64_t& waiting) {
  std::vector<ToRemove> removed;
  db::Transaction transaction(context_.database);
  for (const ToRemove& one : chosen) {
    try {
      if (remove_record(one)) removed.push_back(one);
    } catch (const Conflict&) {
      ++waiting;
    } catch (const db::UnreadableRow&) {
      // `margay status` names it; what it says cannot be judged.
      ++waiting;
    }
  }
  reach(context_.crash, "before-retention-commit");
  if (!removed.empty()) transaction.commit();
  reach(context_.crash, "after-retention-commit");
  return removed;
}

std::optional<int64_t> Housekeeper::oldest_line() const {
  if (!retention().history) return std::nullopt;
  return context_.clock.now() - retention().history->count();
}

void Housekeeper::look_at_ended(const TimeIsUp& time_is_up) {
  const int64_t now_ms = context_.clock.boot_ms();
  if (!measures_) {
    if (now_ms < next_look_ms_) return;
    next_look_ms_ = now_ms + between_looks(retention()) * 1000;
    if (const auto time = oldest_line()) {
      const auto lines = db::AuditStore(context_.database).remove_before(*time, kLinesAtOnce);
      if (lines == kLinesAtOnce) next_look_ms_ = now_ms;
    }
    if (!retention().removes_items()) return;
    ended_.read();
  }
  measures_ = retention().total && !ended_.measure(time_is_up);
  if (measures_) return;
  const auto chosen = choose_to_remove(ended_.all(), retention(), context_.clock.now());
  chosen_.assign(chosen.begin(), chosen.end());
}

bool Housekeeper::step() {
  const std::scoped_lock lock(mutex_);
  const auto begin = Steady::now();
  const TimeIsUp time_is_up = [this, begin] {
    return stopped_ || Steady::now() - begin >= kLongestStep;
  };
  if (chosen_.empty() && !stopped_) look_at_ended(time_is_up);
  if (!chosen_.empty() && !stopped_) {
    const size_t count = std::min(chosen_.size(), kItemsAtOnce);
    const auto end = chosen_.begin() + static_cast<std::ptrdiff_t>(count);
    int64_t waiting = 0;
    remove_chosen({chosen_.begin(), end}, waiting);
    chosen_.erase(chosen_.begin(), end);
  }
  const bool all_tried = finish_removals(time_is_up, [](int64_t, int64_t) {});
  return !stopped_ && (!all_tried || measures_ || !chosen_.empty());
}

}  // namespace scheduler
