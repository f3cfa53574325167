// Keeps the house: removes the folders of items that have left the records. Each folder goes whole;
// what is still to be removed is in the database, so that a daemon that starts after a crash goes
// on where the last one was.
//
// By any thread. Works with the database and the folder of jobs, never with the cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "db/database.h"
#include "db/removed.h"
#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "scheduler/crash_point.h"

namespace scheduler {

// The references must outlive the housekeeper.
struct HousekeeperContext {
  Config config;
  db::Database& database;
  const Clock& clock;
  CrashHook crash{};
  std::function<void(const std::string&)> log{};  // takes one line for the administrator
};

class Housekeeper {
 public:
  explicit Housekeeper(HousekeeperContext context);

  // A little work: a second at most, unless one folder takes longer. True: there is more to do.
  bool step();
  // From here on nothing is begun. By any thread.
  void stop() { stopped_ = true; }

 private:
  struct Removed {
    int64_t folders = 0;
    int64_t bytes = 0;
  };
  // Until the time is up, or all was tried once.
  Removed finish_removals(const std::function<bool()>& time_is_up);
  // False: it is tried again later.
  bool finish_removal(const db::Removal& removal, Removed& sum);
  void say_once(const std::string& problem);

  const HousekeeperContext context_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;   // guards what follows
  int64_t tried_ = 0;  // removals up to this one had their turn
  std::string last_problem_;
};

}  // namespace scheduler
