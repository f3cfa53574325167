// Pauses submissions when devices fail on one node after another. The row of failures is in the
// database, so that it survives a restart. Not thread-safe; the tick is the only caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/daemon/context.h"
#include "scheduler/states/circuit_breaker.h"
#include "scheduler/states/hardware_row.h"

namespace scheduler {

class HardwareFaults {
 public:
  HardwareFaults(const DaemonContext& context, CircuitBreaker& breaker);

  // Call it before the first submission: pauses submissions when the last daemon left such a row.
  void recover();
  // Why submissions must pause after the attempt failed its probe with this message; empty when its
  // item or its host may be to blame.
  std::string pause_reason(const db::Attempt& attempt, const std::string& message);
  // To be called for attempts whose job runs and for those that have ended: a search that passed
  // its probe ends the row, and submissions resume.
  void note(const db::Attempt& attempt);
  // Call it after HostFailureStore::limit_times(now).
  void limit_times(int64_t now);

 private:
  void read();

  const DaemonContext& context_;
  CircuitBreaker& breaker_;
  std::vector<db::HostFailure> row_;
  int64_t row_began_ = 0;  // start of the first search in the last row
  bool recovered_ = false;
};

}  // namespace scheduler
