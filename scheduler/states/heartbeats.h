// How long attempts have been silent, by the times of the files that they write. These times come
// from another machine's clock, which may be wrong, and the wall clock may be set while a file is
// watched: therefore silence is measured by the boot clock from when a file was seen to change.
//
// Pure: the caller passes the times. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "scheduler/clock.h"

namespace scheduler {

class Heartbeats {
 public:
  // Milliseconds since the newest file was written, at `now`. A file with a time in the future
  // counts as written when it was first seen.
  int64_t silent_ms(int64_t attempt_id, int64_t newest_file_ms, Moment now);
  void forget(int64_t attempt_id) { beats_.erase(attempt_id); }

 private:
  struct Beat {
    int64_t file_ms = 0;     // the newest file's time
    int64_t written_ms = 0;  // when it was written, by the boot clock
    int64_t looked_ms = 0;   // the last look, by the boot clock
  };
  std::map<int64_t, Beat> beats_;  // by attempt
};

}  // namespace scheduler
