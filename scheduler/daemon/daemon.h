// The tick: recover, track, plan, submit. The only place that talks to the cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "db/database.h"
#include "db/records.h"
#include "scheduler/clock.h"
#include "scheduler/config/config.h"
#include "scheduler/crash_point.h"
#include "slurm/cluster.h"

namespace scheduler {

// For `margay status`. Answers at once, whatever the cluster does.
struct DaemonStatus {
  std::string version;
  int64_t pid = 0;
  int64_t since = 0;  // start of this daemon
  int64_t now = 0;
  std::string instance;
  std::string database;
  std::string cluster;  // describe()
  int device_slots = 0;
  int busy_slots = 0;
  int64_t ticks = 0;
  int64_t last_tick = 0;
  int64_t last_snapshot = 0;  // of the last complete answer of the cluster
  int64_t data_age = -1;      // seconds since then; -1 = there was none
  // DEGRADED: the cluster does not answer, so that nothing is submitted, and nothing is concluded.
  bool degraded = false;
  std::string problem;       // why, or what else went wrong in the last tick; empty = well
  std::string pause_reason;  // why nothing is submitted, empty = it is
  int64_t orphans = 0;       // jobs of ours that no open attempt owned, stopped since the start
  std::map<db::ItemState, int64_t> items;
};

struct DaemonOptions {
  CrashHook crash{};
  std::function<void(const std::string&)> log{};  // one line for the administrator
  // Room on the disk of a folder; empty = ask the system.
  std::function<int64_t(const std::string&)> free_bytes{};
};

class Daemon {
 public:
  Daemon(const Config& config, db::Database& database, slurm::Cluster& cluster, const Clock& clock,
         DaemonOptions options = {});
  ~Daemon();

  // One round. Never throws for what the next round may mend; the problem is then in status().
  void tick();
  DaemonStatus status() const;
  // Why nothing is submitted just now, empty = it is.
  std::string pause_reason() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace scheduler
