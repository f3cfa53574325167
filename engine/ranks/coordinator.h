// Decides which rank does which units of one search, and when the ranks' statistics are merged.
// Pure: each call reports an event and returns the orders that follow from it. Rank 0 has the
// coordinator; a search by one process has one rank. Times are seconds of any monotonic clock, and
// work is counted in correlations.
//
// Every rank requests work, does it, and requests again. Work that a rank has done since the last
// merge is only in its own statistics until a round of merging ends; if the rank is lost before,
// other ranks do that work again. A round begins when every rank has requested, so that no unit is
// ever partly in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

// The units begin .. end-1 of the search's list.
struct UnitRange {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
  bool operator==(const UnitRange&) const = default;
};

enum class OrderKind {
  kWork,    // correlate `chunk`, then request
  kMerge,   // reduce the statistics since the last merge among `participants`
  kMerged,  // `round` has ended: forget the merged statistics, then request
  kYield,   // stop the chunk after this batch and request, since the other ranks wait
  kEnd,     // the search is done, or stopped
};

struct Order {
  OrderKind kind = OrderKind::kEnd;
  std::vector<UnitRange> chunk{};
  int round = 0;
  std::vector<int> participants{};  // ranks that take part, ascending; the first is 0
  bool stopped = false;             // for kEnd: the search was stopped before it was done
  bool operator==(const Order&) const = default;
};

struct Assignment {
  int rank = 0;
  Order order;
};

struct Division {
  int ranks = 1;
  double chunk_seconds = 0.25;  // about how long a chunk takes at the rank's own speed
  int chunk = 0;                // units of every chunk; 0: by chunk_seconds
};

class Coordinator {
 public:
  // `costs` has the correlations of each unit, and `finished` is true for the units that earlier
  // runs have finished; both have the same length.
  Coordinator(Division division, std::vector<int32_t> costs, std::vector<bool> finished);

  // Sets how many units keep the rank's device busy: only the last chunk of all is smaller.
  void set_batch(int rank, int batch);
  // The rank requests work. It has done the first `done` units of its chunk (0 where it had none),
  // and gives the rest back.
  std::vector<Assignment> on_request(int rank, uint32_t done, double now);
  // Asks for a round, which begins as soon as every rank has requested. With `stop` the search ends
  // after the round.
  std::vector<Assignment> request_merge(bool stop);
  // Rank 0 has the sums of this round. Returns nullopt, and does nothing, when a newer round has
  // begun because a rank was lost. When the search is over() after it, there are no orders until
  // end().
  std::optional<std::vector<Assignment>> on_merged(int round);
  // True when the search is done or stopped and everything is merged: lost ranks no longer matter.
  bool over() const { return over_; }
  // Returns the order to end for every rank.
  std::vector<Assignment> end() const;
  // The rank, which is not 0, was lost: other ranks do again what it has not merged.
  std::vector<Assignment> on_lost(int rank);

  // True for each unit that is merged.
  const std::vector<bool>& finished() const { return finished_; }
  // Correlations that are done, including those not yet merged.
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
    double begun = 0;  // when the chunk began
    double rate = 0;   // units per second of the last chunk; 0: not known
    int batch = 1;
    int64_t merged = 0;  // correlations
  };

  // Returns the same order for every rank that is not lost.
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
  std::vector<UnitRange> todo_;  // the last range is taken first
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
