// Removes what the site's retention says, and the folders of items that have left the records. Each
// folder is removed completely; what is still to be removed is in the database, so that a daemon
// that starts after a crash continues where the last one stopped.
//
// May be used by any thread. Works with the database and the folder of jobs, never with the
// cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "db/database.h"
#include "db/removed.h"
#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "scheduler/crash_point.h"
#include "scheduler/results/ended_items.h"
#include "scheduler/states/retention.h"

namespace scheduler {

// The references must outlive the housekeeper.
struct HousekeeperContext {
  Config config;
  db::Database& database;
  const Clock& clock;
  CrashHook crash{};
  std::function<void(const std::string&)> warn{};  // takes one line for the administrator
};

// What `margay admin gc` removes.
enum class GcKind { kAge, kTotal, kRemoved, kStray, kHistory };
inline constexpr base::Words<GcKind, 5> kGcKinds = {{{GcKind::kAge, "age"},
                                                     {GcKind::kTotal, "total"},
                                                     {GcKind::kRemoved, "removed"},
                                                     {GcKind::kStray, "no_record"},
                                                     {GcKind::kHistory, "history"}}};
struct GcPart {
  int64_t count = 0;  // items, folders or lines
  int64_t bytes = 0;  // bytes of their files
};
struct GcReport {
  std::map<GcKind, GcPart> freed{};
  std::vector<std::string> left{};  // what was not removed, and why, one sentence each
};

class Housekeeper {
 public:
  explicit Housekeeper(HousekeeperContext context);

  // Does a little work: at most a second, unless one folder takes longer. Returns true when there
  // is more to do now.
  bool step();
  // Does all that there is to do now, retention and folders that no record names included, however
  // long it takes. A dry run reports what it would free and removes nothing. Throws Unavailable
  // when the folder of jobs is missing and after stop().
  GcReport collect(bool dry_run);
  // Begins no more removals. For any thread.
  void stop() { stopped_ = true; }

 private:
  using TimeIsUp = std::function<bool()>;
  // Called for each folder that was removed.
  using OnFreed = std::function<void(int64_t item_id, int64_t bytes)>;

  std::string jobs() const { return context_.config.jobs(); }
  const Retention& retention() const { return context_.config.retention; }
  void check_running() const;
  void say_once(const std::string& problem);

  bool finish_removals(const TimeIsUp& time_is_up, const OnFreed& freed);
  // The bytes freed; nullopt: the removal is tried again later.
  std::optional<int64_t> finish_removal(const db::Removal& removal);
  std::optional<int64_t> bytes_of(const db::Removal& removal);
  // The folder of kept results within the folder that is removed; empty: there is none. Throws
  // std::system_error where that cannot be known now.
  std::string kept_in(const db::Removal& removal) const;

  void look_at_ended(const TimeIsUp& time_is_up);
  // Removes the records in one transaction; returns those that were removed, and in `waiting` how
  // many must wait for their jobs.
  std::vector<ToRemove> remove_chosen(const std::vector<ToRemove>& chosen, int64_t& waiting);
  bool remove_record(const ToRemove& chosen);
  std::vector<ToRemove> choose_all();
  std::optional<int64_t> oldest_line() const;

  void collect_ended(GcReport& report, bool dry_run);
  void collect_strays(GcReport& report, bool dry_run);
  void collect_history(GcReport& report, bool dry_run);

  const HousekeeperContext context_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // guards what follows
  EndedItems ended_;
  std::deque<ToRemove> chosen_;  // items that are still to be removed
  bool measures_ = false;        // the last look waits for sizes
  int64_t next_look_ms_ = 0;     // by the boot clock
  int64_t tried_ = 0;            // removals up to this id were tried
  int64_t retry_ms_ = 0;         // by the boot clock: when they are tried again; 0: none failed
  std::string last_problem_;
};

}  // namespace scheduler
