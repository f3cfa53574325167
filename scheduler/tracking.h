// Every open attempt against the evidence there is: files, jobs, absence.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "db/records.h"
#include "scheduler/transition.h"
#include "scheduler/workplace.h"

namespace scheduler {

// The cluster's jobs of this instance, by name.
using Jobs = std::multimap<std::string, slurm::JobStatus>;

class Tracker {
 public:
  explicit Tracker(const Workplace& workplace) : workplace_(workplace) {}

  // Returns why the lane must rest, empty = it need not.
  std::string track(const db::Attempt& attempt, const Jobs& jobs, bool complete);

 private:
  // An attempt whose submission got no answer.
  void resolve(const db::Attempt& attempt, const Jobs& jobs, bool complete);
  void adopt(db::Attempt attempt, const slurm::JobStatus& job);
  bool has_vanished(const db::Attempt& attempt, bool present, bool complete);
  Evidence gather(const db::Attempt& attempt, const db::Item& item,
                  const slurm::JobStatus* job) const;
  void add_end(const db::Attempt& attempt, Evidence& evidence) const;
  void ask_to_stop(const db::Attempt& attempt, const db::Item& item) const;

  const Workplace& workplace_;
  std::map<int64_t, int64_t> absent_since_ms_;  // by attempt, in complete snapshots only
  std::map<int64_t, int> looked_up_;            // complete looks that found nothing, by attempt
};

}  // namespace scheduler
