// What the policy decided: the jobs to submit and to stop, and why each item waits, runs or is
// held. With 100,000 waiting items every byte of a decision counts.
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
  kWiden,  // stop its job with a checkpoint, for a job with another width or place in the queue
  kHeld
};

enum class Why : uint8_t {
  kTurn,   // kStart: it is its turn
  kFloor,  // kStart: its class has less than its floor
  kProbe,  // kStart: it probes whether jobs run again
  kQueue,  // kWait: for its turn
  kHold,   // kWait: no job of its lane, of its size there, or for its files may be submitted
  kUnread,
  kRetry,  // kWait: for the time of its retry
  kHeld,
  kCancelled,
  kRuns,
  kStops,   // kRuns: to resume with another width
  kWidens,  // kWiden, or kRuns where its job cannot be stopped, or its next one be submitted, yet
};

// Numbers of items by class.
using ByClass = std::array<int64_t, 5>;

// Why an item waits, runs or is held, in numbers; sentence() turns them into words when they are
// shown. Many waiting items share one.
struct Reason {
  Why why = Why::kQueue;
  db::Priority priority = db::Priority::kNormal;
  int64_t busy = 0;  // for kTurn, kProbe and kQueue: busy jobs, those that start before it included
  // For kTurn, kFloor and kProbe:
  bool plain = false;  // it has no options of its own
  // Items before it wait, since as many jobs of their classes already wait as may.
  bool others_wait = false;
  bool owners_in_turn = false;  // its class has items of several owners
  bool groups_in_turn = false;  // its class has items of several groups
  int64_t ready = 0;            // items of its class that the plan had not reached, itself included
  // For kQueue:
  int64_t jobs = 0;    // jobs of its class that wait in the cluster; 0: it does not wait for these
  bool apart = false;  // `jobs` are those of items with own_room
  int64_t stuck = 0;   // jobs of its owner that cannot start; 0: it does not wait for these
  ByClass ahead{};     // items of other classes that go first
  // Index into Plan::groups of a group of its class that goes before its own; -1: there is none.
  int first_group = -1;
  // Index into Plan::texts; -1: none. For kTurn, kFloor and kProbe the text is what it gets, for
  // kHold and kUnread what keeps it, for kWidens the whole sentence.
  int text = -1;

  bool operator==(const Reason&) const = default;
};

struct Decision {
  int64_t item_id = 0;
  uint32_t reason = 0;  // an index into Plan::reasons
  // For kQueue and for items that start: waiting items of its class that go first. For kRetry:
  // seconds until the retry.
  int32_t count = 0;
  Verdict verdict = Verdict::kWait;
  db::Priority priority = db::Priority::kNormal;
  // Kind of its search, an index into Plan::times, if it has expected times; else kNoKind.
  uint16_t kind : 11 = kNoKind;
  // For a waiting item with expected times, the width that it is expected to get: an index into the
  // menu of the limits, or kFixedWidth.
  uint16_t width : 5 = kFixedWidth;
  int32_t group = 0;  // for kQueue: its own group, an index into Plan::groups
  // Seconds from the plan until it is expected to start (0: it runs) and to be done; -1: not known
  // (expected_times.h).
  int32_t starts_in = -1;
  int32_t done_in = -1;

  static constexpr uint16_t kNoKind = 2047;    // no kind, or one that does not fit into 11 bits
  static constexpr uint16_t kFixedWidth = 31;  // the width of its class, or of its JobStart
};

// The unfinished items, without those that are held.
struct QueueForecast {
  // Seconds from the plan until the last item with a known time is done; -1: none is known.
  int64_t done_in = -1;
  int64_t unknown = 0;  // items whose time is not known
};

// Seconds that searches of a kind take at most, with 90 % certainty, at the fastest width that a
// class may have for a deadline.
struct FastestSearch {
  SearchKind kind{};
  ByClass seconds{};  // 0: not known
};

// When an item with a deadline is done, with 90 % certainty, if it starts now. It may be later,
// since its wait is not known.
struct Outlook {
  int64_t item_id = 0;
  int64_t done_by = 0;  // seconds since the epoch; 0: the time of its search is not known
};

// The rest of a search whose job stops with a checkpoint at the end of its segment.
struct ResumedSearch {
  db::Priority priority = db::Priority::kNormal;
  uint32_t decision = 0;  // an index into Plan::decisions
  Width width{};
  double stops = 0;    // seconds from the plan
  double seconds = 0;  // duration of its further jobs; 0: it is expected to be done before it stops
  double late_seconds = 0;  // with 90 % certainty
};

// The devices on which the waiting items were placed, one after the other; item_forecast.h computes
// from these what else an item might have been given.
struct Placing {
  // When each device is free before the first waiting item: seconds from the plan, as expected and
  // with 90 % certainty.
  ClusterForecast likely{};
  ClusterForecast late{};
  int64_t not_placed = 0;   // GpuForecast::not_placed
  int most_jobs = 1;        // jobs that run at once
  bool counts_gpus = true;  // otherwise a device is the place of one job
  // In their order; each goes before the waiting items of its class.
  std::vector<ResumedSearch> resumed{};
  std::map<int64_t, double> late_starts{};  // GpuForecast::late_starts
  std::map<int64_t, float> left{};  // PlanItem::left of waiting items, where it is less than 1
};

// A job to submit.
struct JobStart {
  int64_t item_id = 0;
  db::Priority priority = db::Priority::kNormal;
  Width width{};
  std::string lane{};
  std::string size{};
  std::optional<int64_t> apart{};  // its owner, if its job belongs to pending_apart
  std::string explanation{};       // one sentence for the user
  // Set if it is submitted for the floor of its class: the class as whose job it waits in the
  // cluster.
  std::optional<db::Priority> floor_over{};
  int64_t segment = 0;  // seconds after which it stops with a checkpoint; 0: it runs to its end
  int64_t limit = 0;    // time limit that it asks for, seconds; 0: its options decide
  int64_t longest = 0;  // longest time limit in Slurm, seconds; 0: not limited, or not known
};

// A job to stop with a checkpoint, and what its item then gets.
struct Widening {
  int64_t item_id = 0;
  Width width{};
};

struct Plan {
  int64_t made = 0;  // QueueSnapshot::now
  ClusterLimits limits{};
  std::string pause_reason{};
  std::vector<std::string> texts{};
  // The snapshot's, with the use of their jobs in the cluster added.
  std::vector<GroupUse> groups{};
  std::vector<Reason> reasons{};
  std::vector<Decision> decisions{};  // for each unfinished item, in the order of the items
  std::vector<Outlook> outlooks{};    // for items with a deadline, in the order of the items
  QueueForecast queue{};
  std::vector<FastestSearch> fastest{};            // for the kinds that the queue has had
  std::vector<std::optional<SearchTime>> times{};  // by kind; unset: not known
  PlaceBounds bounds{};                            // the snapshot's
  double usual_job_seconds = 1;                    // the snapshot's
  bool knows_gpus = false;                         // whether there is a forecast of the GPUs
  std::optional<Placing> placing{};                // unset: not known
  std::vector<JobStart> starts{};                  // in order of submission
  std::vector<Widening> widenings{};               // carried out after the starts
  std::map<db::Priority, Floor> floors{};          // their state after the starts
  // Since when a class with ready items holds no GPU, seconds since the epoch; input of the next
  // snapshot.
  std::map<db::Priority, int64_t> idle_since{};
};

}  // namespace scheduler
