// Writes a trace's YAML from a site's records, in the form that trace_reader.h reads. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/forecast/runtime_model.h"

namespace scheduler {

struct RecordedItem {
  int64_t arrival = 0;  // seconds from the beginning of the trace
  db::Priority priority = db::Priority::kNormal;
  std::string group{};
  double work = 0;               // seconds on one GPU, as the policy expects
  std::optional<double> took{};  // seconds on one GPU, as it turned out; unset: the same
  int64_t deadline_after = 0;    // seconds from its arrival; 0: none

  bool operator==(const RecordedItem&) const = default;
};

struct Recorded {
  std::string title{};  // a comment at the top, one line
  int nodes = 1;
  int gpus_per_node = 1;
  int max_jobs = 1;
  int max_pending = 0;  // 0: a fraction of the running jobs
  RuntimeModel model{};
  int64_t segment = 0;  // seconds that a bulk job runs at most; 0: until its search is done
  // By class: the keys and values of policy.classes for the widths of its jobs and its floor.
  std::map<std::string, std::map<std::string, std::string>> classes{};
  std::vector<RecordedItem> items{};  // in the order of their arrival
};

// Consecutive equal items are written as one entry.
std::string trace_yaml(const Recorded& recorded);

}  // namespace scheduler
