// Whether running searches still make progress, judged by their progress reports at each look and
// by the time between the looks. Pure.
//
// The rule is that of the engine's ranks (engine/ranks/watchdog.h): a batch may take ten times as
// long as the longest batch before it, and at least as long as a floor; a start may take twice the
// floor, and writing the results ten times the floor.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace scheduler {

struct ProgressSeen {
  int64_t done = 0;     // correlations done
  int64_t total = 0;    // all correlations; 0: the report does not say
  std::string state{};  // the engine's word: starting, running, writing ...
};

class StallWatch {
 public:
  // With a floor of 0 no search ever stalls.
  explicit StallWatch(std::chrono::milliseconds floor) : floor_(floor) {}

  // Takes the progress of a running attempt; nullopt: no readable report yet. Returns why the
  // attempt counts as stalled, one sentence; empty: it does not. An attempt whose report has
  // disappeared never does. `now_ms` is the boot clock's.
  std::string look(int64_t attempt_id, const std::optional<ProgressSeen>& progress, int64_t now_ms);
  // Forgets the attempt, which has ended or whose job does not run now; the next look begins anew.
  void forget(int64_t attempt_id) { searches_.erase(attempt_id); }

 private:
  struct Search {
    std::optional<ProgressSeen> progress{};
    int64_t looked_ms = 0;
    std::chrono::milliseconds still{0};    // time without any change
    std::chrono::milliseconds longest{0};  // longest of its batches
  };

  std::chrono::milliseconds limit_of(const Search& search) const;

  std::chrono::milliseconds floor_;
  std::map<int64_t, Search> searches_;
};

}  // namespace scheduler
