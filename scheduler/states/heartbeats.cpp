#include "scheduler/states/heartbeats.h"

#include <algorithm>

namespace scheduler {

int64_t Heartbeats::silent_ms(int64_t attempt_id, int64_t newest_file_ms, Moment now) {
  const int64_t age_ms = std::max(int64_t{0}, now.wall_ms - newest_file_ms);
  const auto [beat, first] = beats_.try_emplace(
      attempt_id, Beat{.file_ms = newest_file_ms, .written_ms = now.boot_ms - age_ms});
  if (!first && beat->second.file_ms != newest_file_ms) {
    // Written since the last look, whatever the wall clock says.
    beat->second.file_ms = newest_file_ms;
    beat->second.written_ms = std::max(now.boot_ms - age_ms, beat->second.looked_ms);
  }
  beat->second.looked_ms = now.boot_ms;
  return now.boot_ms - beat->second.written_ms;
}

}  // namespace scheduler
