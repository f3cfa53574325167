// What the policy decided: the jobs to be submitted and stopped, and why each item waits, runs or
// is held. With 100,000 waiting items every byte of a decision counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "scheduler/config/width.h"
#include "scheduler/policy/floors.h"
#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {

enum class Verdict : uint8_t {
  kStart,
  kWait,
  kRuns,
  kWiden,  // stop its job with a checkpoint, for one of another width or place in the queue
  kHeld
};

enum class Why : uint8_t {
  kTurn,   // kStart: it is its turn
  kFloor,  // kStart: its class has less than its floor
  kProbe,  // kStart: it tries for all whether jobs run again
  kQueue,  // kWait: for its turn
  kHold,   // kWait: no job of its lane, of its size there, or for its files may be submitted
  kUnread,
  kRetry,  // kWait: for the time of its next try
  kHeld,
  kCancelled,
  kRuns,
  kStops,   // kRuns: to resume with another width
  kWidens,  // kWiden, or kRuns where its job cannot be stopped, or its next one be submitted, yet
};

// Items by class.
using ByClass = std::array<int64_t, 5>;

// Why an item waits, runs or is held, in numbers: sentence() makes words of them when it is shown.
// Many waiting items share one.
struct Reason {
  Why why = Why::kQueue;
  db::Priority priority = db::Priority::kNormal;
  int64_t busy = 0;  // of kTurn, kProbe and kQueue: jobs, those that start before it included
  // Of kTurn, kFloor and kProbe:
  bool plain = false;           // it has no options of its own
  bool others_wait = false;     // items before it wait, as many jobs of their classes do already
  bool owners_in_turn = false;  // its class has items of several owners,
  bool groups_in_turn = false;  // and of several groups
  int64_t ready = 0;            // items of its class that the plan had not reached, itself included
  // Of kQueue:
  int64_t jobs = 0;    // of its class, that wait in the cluster; 0: not what it waits for
  bool apart = false;  // ... those with room of their own
  int64_t stuck = 0;   // jobs of its owner that cannot start; 0: not what it waits for
  ByClass ahead{};     // items of other classes that go first
  // An index into Plan::groups: of one of its class that goes before its own; -1: there is none.
  int first_group = -1;
  // An index into Plan::texts, -1 for none. Of kTurn, kFloor and kProbe what it gets, of kHold and
  // kUnread what keeps it, of kWidens the whole sentence.
  int text = -1;

  bool operator==(const Reason&) const = default;
};

struct Decision {
  int64_t item_id = 0;
  uint32_t reason = 0;  // an index into Plan::reasons
  // Of kQueue, and of those that start: items of its class that wait and go first. Of kRetry:
  // seconds until then.
  int32_t count = 0;
  Verdict verdict = Verdict::kWait;
  db::Priority priority = db::Priority::kNormal;
  // Of its search, where it has expected times: an index into Plan::times, or kNoKind.
  uint16_t kind : 11 = kNoKind;
  // Of one that waits and has expected times, what it is expected to get: an index into the menu of
  // the limits, or kFixedWidth.
  uint16_t width : 5 = kFixedWidth;
  int32_t group = 0;  // of kQueue: its own, an index into Plan::groups
  // Seconds from the plan until it is expected to start, 0 for one that runs, and to be done; -1:
  // not known (expected_times.h).
  int32_t starts_in = -1;
  int32_t done_in = -1;

  static constexpr uint16_t kNoKind = 2047;    // or beyond the kinds that fit
  static constexpr uint16_t kFixedWidth = 31;  // that of its class, or of its JobStart
};

// The items that have not ended, but for those that are held.
struct QueueForecast {
  int64_t done_in = -1;  // seconds from the plan until the last of those that are known; -1: none
  int64_t unknown = 0;   // items of which it is not known
};

// How long searches of a kind take at most, with 90 % certainty, at the fastest width that a class
// may have for a deadline.
struct FastestSearch {
  SearchKind kind{};
  ByClass seconds{};  // 0: not known
};

// By when an item with a deadline is done with 90 % certainty, if what waits started now. It may be
// later, since nobody knows how long it waits.
struct Outlook {
  int64_t item_id = 0;
  int64_t done_by = 0;  // seconds since the epoch; 0: the time of its search is not known
};

// What is left of a search whose job stops with a checkpoint at the end of its segment.
struct ResumedSearch {
  db::Priority priority = db::Priority::kNormal;
  uint32_t decision = 0;  // an index into Plan::decisions
  Width width{};
  double stops = 0;         // seconds from the plan
  double seconds = 0;       // of its further jobs; 0: it is expected to be done before it stops
  double late_seconds = 0;  // with 90 % certainty
};

// What the waiting items were placed on one after the other: from this
// item_forecast.h computes what else one of them might have been given.
struct Placing {
  // When each device is free, before the first of them: seconds from the plan, as expected and with
  // 90 % certainty.
  ClusterForecast likely{};
  ClusterForecast late{};
  int64_t not_placed = 0;                   // GpuForecast::not_placed
  int most_jobs = 1;                        // at once
  bool counts_gpus = true;                  // otherwise a device is the place of one job
  std::vector<ResumedSearch> resumed{};     // in their order: each before the waiting of its class
  std::map<int64_t, double> late_starts{};  // GpuForecast::late_starts
  std::map<int64_t, float> left{};  // PlanItem::left of the waiting ones that lack less than all
};

// A job to be submitted.
struct JobStart {
  int64_t item_id = 0;
  db::Priority priority = db::Priority::kNormal;
  Width width{};
  std::string lane{};
  std::string size{};
  std::optional<int64_t> apart{};  // its owner if its job is one of pending_apart
  std::string explanation{};       // one sentence for the user
  // Submitted for the floor of its class: it waits in the cluster as jobs of this class do.
  std::optional<db::Priority> floor_over{};
  int64_t segment = 0;  // seconds after which it is to stop with a checkpoint; 0: it runs whole
  int64_t limit = 0;    // the time limit that it asks for, seconds; 0: that of its options
  int64_t longest = 0;  // seconds that Slurm lets it have; 0: not limited, or not known
};

// A job to be stopped with a checkpoint, and what its item then gets.
struct Widening {
  int64_t item_id = 0;
  Width width{};
};

struct Plan {
  int64_t made = 0;  // QueueSnapshot::now
  ClusterLimits limits{};
  std::string pause_reason{};
  std::vector<std::string> texts{};
  std::vector<GroupUse> groups{};  // the snapshot's, with what its jobs in the cluster count
  std::vector<Reason> reasons{};
  std::vector<Decision> decisions{};  // of each item that has not ended, in the order of the items
  std::vector<Outlook> outlooks{};    // of those with a deadline, in the order of the items
  QueueForecast queue{};
  std::vector<FastestSearch> fastest{};            // of the kinds that the queue has had,
  std::vector<std::optional<SearchTime>> times{};  // and how long they take, where that is known
  PlaceBounds bounds{};                            // the snapshot's,
  double usual_job_seconds = 1;                    // and so is this,
  bool knows_gpus = false;                         // whether it has a forecast of the GPUs
  std::optional<Placing> placing{};                // unset: where and when jobs start is not known
  std::vector<JobStart> starts{};                  // in their order
  std::vector<Widening> widenings{};               // after the starts
  std::map<db::Priority, Floor> floors{};          // as they are after the starts
  // Since when a class with ready items holds no GPU: for the next snapshot.
  std::map<db::Priority, int64_t> idle_since{};
};

}  // namespace scheduler
