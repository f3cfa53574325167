// The daemon's state as `margay status` shows it. Times are seconds since the epoch (UTC), 0 = not
// yet.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/records.h"

namespace scheduler {

struct DaemonStatus {
  std::string version;
  int64_t pid = 0;
  int64_t since = 0;  // start of this daemon
  int64_t now = 0;
  std::string instance;
  std::string database;
  std::string cluster;  // Cluster::describe()
  int device_slots = 0;
  int busy_slots = 0;
  int64_t ticks = 0;
  int64_t last_tick = 0;
  int64_t last_snapshot = 0;  // the cluster's last complete answer
  int64_t data_age = -1;      // seconds since last_snapshot; -1 when there was none
  int64_t plan_age = -1;      // seconds since the last plan was made; -1 before the first
  // The cluster does not answer, so nothing is submitted and nothing is concluded.
  bool degraded = false;
  // Why it is degraded, or what else went wrong in the last tick; empty when nothing did.
  std::string problem;
  std::string pause_reason;  // why nothing is submitted; empty when submissions are allowed
  // Why no jobs of a lane are submitted (states/lanes.h), by lane.
  std::map<std::string, std::string> held_lanes;
  int64_t orphans = 0;  // jobs without an open attempt, stopped since the start
  std::map<db::ItemState, int64_t> items;
};

}  // namespace scheduler
