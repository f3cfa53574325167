#include "scheduler/daemon/hardware_faults.h"

#include <algorithm>

#include "db/attempts.h"
#include "db/host_failures.h"
#include "scheduler/daemon/evidence.h"

namespace scheduler {

HardwareFaults::HardwareFaults(const DaemonContext& context, CircuitBreaker& breaker)
    : context_(context), breaker_(breaker) {
  read();
}

void HardwareFaults::read() {
  row_ = db::HostFailureStore(context_.database).in_row();
  if (!row_.empty()) row_began_ = row_.front().row_start;
}

void HardwareFaults::limit_times(int64_t now) {
  row_began_ = std::min(row_began_, now);
  read();
}

void HardwareFaults::recover() {
  if (recovered_) return;
  recovered_ = true;
  if (row_.empty()) return;
  const HardwareRow row = hardware_row(row_);
  if (!is_site_wide(row, context_.cluster.nodes())) return;
  const auto newest = db::AttemptStore(context_.database).find(row_.back().attempt_id);
  breaker_.trip(SiteFault::kHardware, pause_reason_of(row, newest ? newest->message : "unknown"),
                newest ? newest->token : "", context_.clock.boot_ms());
}

std::string HardwareFaults::pause_reason(const db::Attempt& attempt, const std::string& message) {
  if (has_passed_probe(attempt)) return "";
  read();
  std::vector<db::HostFailure> failures = row_;
  if (const std::string host = host_of(attempt); !host.empty()) {
    failures.push_back({.host = host, .item_id = attempt.item_id, .attempt_id = attempt.id});
  }
  const HardwareRow row = hardware_row(failures);
  // A row that lost the failures of a node that is gone is still the fault's.
  const bool site_wide = breaker_.has_device_fault() && !row.hosts.empty();
  return site_wide || is_site_wide(row, context_.cluster.nodes()) ? pause_reason_of(row, message)
                                                                  : "";
}

void HardwareFaults::note(const db::Attempt& attempt) {
  if (row_.empty() && !breaker_.has_device_fault()) return;
  if (start_of(attempt) < row_began_) return;
  if (!has_passed_probe(attempt)) return;
  db::HostFailureStore(context_.database).end_row(start_of(attempt));
  read();
  if (is_site_wide(hardware_row(row_), context_.cluster.nodes())) return;
  if (breaker_.device_works()) {
    context_.log("submissions resumed: the device of " + attempt.token + " works");
  }
}

}  // namespace scheduler
