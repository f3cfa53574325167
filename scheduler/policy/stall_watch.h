// Whether running searches still move, judged by what their progress reports say at each look and
// by the time between the looks. Pure.
//
// The rule is that of the engine's ranks (engine/ranks/watchdog.h): a batch may take ten times as
// long as the longest before it, and never less than a floor; a start may take twice the floor, and
// writing the results ten times the floor.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace scheduler {

struct ProgressSeen {
  int64_t done = 0;     // correlations,
  int64_t total = 0;    // of so many; 0: the report does not say
  std::string state{};  // the engine's word: starting, running, writing ...
};

class StallWatch {
 public:
  // 0: no search ever stalls.
  explicit StallWatch(std::chrono::milliseconds floor) : floor_(floor) {}

  // What an attempt that runs shows now; nullopt: no report yet, or none that can be seen. Returns
  // why it counts as stalled, one sentence, or an empty text. One whose report is gone never does.
  // `now_ms` is the boot clock's.
  std::string look(int64_t attempt_id, const std::optional<ProgressSeen>& progress, int64_t now_ms);
  // Begins anew at the next look: the attempt has ended, or its job does not run now.
  void forget(int64_t attempt_id) { searches_.erase(attempt_id); }

 private:
  struct Search {
    std::optional<ProgressSeen> progress{};
    int64_t looked_ms = 0;
    std::chrono::milliseconds still{0};    // without any change
    std::chrono::milliseconds longest{0};  // of its batches
  };

  std::chrono::milliseconds limit_of(const Search& search) const;

  std::chrono::milliseconds floor_;
  std::map<int64_t, Search> searches_;
};

}  // namespace scheduler
