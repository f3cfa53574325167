// Decides which rank does which units of one search, and when the ranks' statistics are merged.
// Pure: each call reports an event and returns the orders that follow from it. Rank 0 has one
// coordinator; a search by one process has one rank. Times are seconds of any monotonic clock, work
// is counted in correlations.
//
// Every rank requests work, does it, and requests again. A rank's statistics count from the last
// merge on; what it has done since is its own until a round of merging ends, and is done again by
// others when the rank is lost before. A round begins when every rank has requested, so that no
// unit is ever half in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

// Units begin..end, end excluded, by their place in the search's list.
struct UnitRange {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
  bool operator==(const UnitRange&) const = default;
};

enum class OrderKind {
  kWork,    // correlate `chunk`, then request
  kMerge,   // reduce the statistics since the last merge among `participants`
  kMerged,  // `round` has ended: forget those statistics, then request
  kYield,   // leave the chunk after this batch and request: the others wait
  kEnd,     // the search is done, or stopped
};

struct Order {
  OrderKind kind = OrderKind::kEnd;
  std::vector<UnitRange> chunk{};
  int round = 0;
  std::vector<int> participants{};  // ranks that take part, ascending; the first is 0
  bool stopped = false;             // of kEnd
  bool operator==(const Order&) const = default;
};

struct Assignment {
  int rank = 0;
  Order order;
};

struct Division {
  int ranks = 1;
  double chunk_seconds = 0.25;  // a chunk is about this long, by the rank's own speed
  int chunk = 0;                // units of every chunk; 0: as above
};

class Coordinator {
 public:
  // `costs`: correlations of each unit. `finished`: by earlier runs; of the same length.
  Coordinator(Division division, std::vector<int32_t> costs, std::vector<bool> finished);

  // Units that keep the rank's device busy: its chunks are no smaller, but the last of all.
  void set_batch(int rank, int batch);
  // The rank requests work: it has done the first `done` units of its chunk (0 where it had none);
  // the rest go back.
  std::vector<Assignment> on_request(int rank, uint32_t done, double now);
  // A round follows as soon as every rank has requested; with `stop` the end follows the round.
  std::vector<Assignment> request_merge(bool stop);
  // Rank 0 has the sums of this round. nullopt and no effect when it is not the newest: a rank was
  // lost meanwhile. Where the search is over() now, no orders follow before end().
  std::optional<std::vector<Assignment>> on_merged(int round);
  // Done or stopped, and all of it merged: rank failures no longer matter.
  bool over() const { return over_; }
  // The order to end, for every rank.
  std::vector<Assignment> end() const;
  // What the rank has not merged is done again by others. Never rank 0.
  std::vector<Assignment> on_lost(int rank);

  // By unit: whether it was merged.
  const std::vector<bool>& finished() const { return finished_; }
  // Correlations, those not yet merged included.
  int64_t done() const { return done_; }
  // Merged correlations of this rank.
  int64_t merged_by(int rank) const { return ranks_[static_cast<size_t>(rank)].merged; }
  bool complete() const;  // every unit is merged
  int live() const;       // ranks

 private:
  struct Rank {
    bool live = true;
    bool asking = false;
    std::vector<UnitRange> chunk;
    std::vector<UnitRange> unmerged;
    double begun = 0;  // the chunk
    double rate = 0;   // units per second of the last chunk; 0: not known
    int batch = 1;
    int64_t merged = 0;  // correlations
  };

  // The same order for every rank that lives.
  std::vector<Assignment> to_all(const Order& order) const;
  void take_back(const std::vector<UnitRange>& ranges);
  int64_t correlations_of(const std::vector<UnitRange>& ranges) const;
  uint32_t chunk_size(int rank) const;
  std::vector<UnitRange> take(uint32_t units);
  std::vector<Assignment> begin_round();
  std::vector<Assignment> dispatch();
  bool everyone_asks() const;

  Division division_;
  std::vector<int32_t> costs_;
  std::vector<bool> finished_;
  std::vector<Rank> ranks_;
  std::vector<UnitRange> todo_;  // the last is taken first
  uint32_t todo_units_ = 0;
  int64_t done_ = 0;
  bool merge_wanted_ = false;
  bool stop_wanted_ = false;
  bool in_round_ = false;
  bool over_ = false;
  int round_ = 0;
  double now_ = 0;
};

}  // namespace engine
