// Ranks that share one search: every unit is done once to effect, whoever is lost, and nobody waits
// long. Every message is sent as bytes.
#include "engine/ranks/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "engine/ranks/messages.h"

namespace engine {
namespace {

// A rank that works in virtual time.
struct SimulatedRank {
  double units_per_second = 100;
  int batch = 8;
  std::vector<UnitRange> chunk{};
  std::vector<uint32_t> unmerged{};
  double busy = 0;  // seconds
  bool alive = true;
};

struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
};

// All ranks and their leader, without threads: an event is a rank that asks.
class SimulatedSearch {
 public:
  SimulatedSearch(std::vector<SimulatedRank> ranks, size_t units, int chunk = 0)
      : ranks_(std::move(ranks)),
        done_(units),
        coordinator_({.ranks = static_cast<int>(ranks_.size()), .chunk = chunk},
                     std::vector<int32_t>(units, 1), std::vector<bool>(units)) {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      coordinator_.set_batch(static_cast<int>(i), ranks_[i].batch);
      asks_.push({0.0, static_cast<int>(i)});
    }
  }

  // Until the end, or until nobody has anything to do.
  void run(const std::function<void(SimulatedSearch&)>& between = {}) {
    while (!asks_.empty() && !over_) {
      const auto [time, rank] = asks_.top();
      asks_.pop();
      now_ = time;
      if (ranks_[static_cast<size_t>(rank)].alive) ask(rank);
      if (between && !over_) between(*this);
    }
  }

  void mark_lost(int rank) {
    SimulatedRank& gone = ranks_[static_cast<size_t>(rank)];
    gone.alive = false;
    gone.unmerged.clear();
    obey(coordinator_.on_lost(rank));
  }
  void request_merge(bool stop) { obey(coordinator_.request_merge(stop)); }

  double now() const { return now_; }
  bool over() const { return over_; }
  bool stopped() const { return stopped_; }
  int rounds() const { return rounds_; }
  int live() const { return coordinator_.live(); }
  const Coordinator& coordinator() const { return coordinator_; }
  const std::vector<int>& done() const { return done_; }
  const Traffic& traffic() const { return traffic_; }
  const std::vector<SimulatedRank>& ranks() const { return ranks_; }

 private:
  using Event = std::pair<double, int>;

  template <typename T>
  T by_wire(const T& message) {
    const comm::Message bytes = encode(message);
    ++traffic_.messages;
    traffic_.bytes += static_cast<int64_t>(bytes.body.size());
    return std::get<T>(decode(bytes));
  }

  void ask(int rank) {
    SimulatedRank& one = ranks_[static_cast<size_t>(rank)];
    uint32_t units = 0;
    for (const UnitRange& range : one.chunk) {
      for (uint32_t unit = range.begin; unit < range.end; ++unit) one.unmerged.push_back(unit);
      units += range.size();
    }
    one.chunk.clear();
    obey(coordinator_.on_request(rank, by_wire(WorkRequest{units, 0}).done, now_));
  }

  void obey(const std::vector<Assignment>& assignments) {
    int round = 0;
    for (const Assignment& one : assignments) {
      SimulatedRank& rank = ranks_[static_cast<size_t>(one.rank)];
      const Order order = by_wire(one.order);
      ASSERT_TRUE(rank.alive);
      if (order.kind == OrderKind::kWork) {
        rank.chunk = order.chunk;
        double units = 0;
        for (const UnitRange& range : order.chunk) units += range.size();
        rank.busy += units / rank.units_per_second;
        asks_.push({now_ + units / rank.units_per_second, one.rank});
      } else if (order.kind == OrderKind::kMerge) {
        ASSERT_TRUE(rank.chunk.empty()) << "a unit is half in the round";
        round = order.round;
        participants_ = order.participants;
      } else if (order.kind == OrderKind::kMerged) {
        asks_.push({now_, one.rank});
      } else if (order.kind == OrderKind::kEnd) {
        over_ = true;
        stopped_ = order.stopped;
      }
    }
    if (round > 0) reduce(round);
  }

  void reduce(int round) {
    if (lost_in_round_ > 0) {
      const int rank = std::exchange(lost_in_round_, 0);
      mark_lost(rank);
      EXPECT_FALSE(coordinator_.on_merged(round)) << "sums without a lost rank's part were taken";
      return;
    }
    for (const int worker : participants_) {
      SimulatedRank& rank = ranks_[static_cast<size_t>(worker)];
      for (const uint32_t unit : rank.unmerged) ++done_[unit];
      rank.unmerged.clear();
    }
    ++rounds_;
    const auto assignments = coordinator_.on_merged(round);
    ASSERT_TRUE(assignments);
    obey(*assignments);
    if (coordinator_.over()) obey(coordinator_.end());
  }

 public:
  int lost_in_round_ = 0;  // this rank, in the next round; 0: none

 private:
  std::vector<SimulatedRank> ranks_;
  std::vector<int> done_;  // how often each unit is in the merged statistics
  Coordinator coordinator_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> asks_;
  std::vector<int> participants_;
  Traffic traffic_;
  double now_ = 0;
  int rounds_ = 0;
  bool over_ = false;
  bool stopped_ = false;
};

void expect_each_once(const SimulatedSearch& search) {
  EXPECT_TRUE(search.over());
  EXPECT_FALSE(search.stopped());
  EXPECT_TRUE(search.coordinator().complete());
  EXPECT_EQ(std::count(search.done().begin(), search.done().end(), 1),
            static_cast<int64_t>(search.done().size()));
  EXPECT_EQ(search.coordinator().done(), static_cast<int64_t>(search.done().size()));
}

TEST(Coordinator, EveryUnitIsDoneOnceByAnyNumberOfRanksInChunksOfAnySize) {
  for (const size_t ranks : {1u, 2u, 3u, 4u, 7u}) {
    for (const int chunk : {0, 1, 3, 1000}) {
      SimulatedSearch search(std::vector<SimulatedRank>(ranks), 101, chunk);
      search.run();
      expect_each_once(search);
      EXPECT_EQ(search.rounds(), 1);
    }
  }
}

TEST(Coordinator, WhatEarlierRunsDidIsNotDoneAgain) {
  std::vector<bool> finished(20);
  for (const size_t unit : {0u, 1u, 7u, 19u}) finished[unit] = true;
  Coordinator coordinator({.chunk = 1000}, std::vector<int32_t>(20, 2), finished);
  EXPECT_EQ(coordinator.done(), 8);
  const auto assignments = coordinator.on_request(0, 0, 0);
  ASSERT_EQ(assignments.size(), 1u);
  EXPECT_THAT(assignments[0].order.chunk, testing::ElementsAre(UnitRange{2, 7}, UnitRange{8, 19}));
  EXPECT_EQ(coordinator.on_request(0, 16, 1)[0].order.kind, OrderKind::kMerge);
  EXPECT_EQ(coordinator.done(), 40);
}

TEST(Coordinator, ASearchWithNothingLeftEndsAtOnce) {
  Coordinator coordinator({.ranks = 2}, std::vector<int32_t>(3, 1), std::vector<bool>(3, true));
  EXPECT_TRUE(coordinator.on_request(0, 0, 0).empty());
  const auto assignments = coordinator.on_request(1, 0, 0);
  ASSERT_EQ(assignments.size(), 2u);
  EXPECT_EQ(assignments[0].order.kind, OrderKind::kMerge);
  const auto ended = coordinator.on_merged(assignments[0].order.round);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->empty());
  EXPECT_TRUE(coordinator.over());
  const auto end = coordinator.end();
  ASSERT_EQ(end.size(), 2u);
  EXPECT_EQ(end[1].order, (Order{.kind = OrderKind::kEnd}));
}

TEST(Coordinator, KnowsWhoDidWhat) {
  Coordinator coordinator({.ranks = 2, .chunk = 3}, {2, 2, 2, 1, 1, 1, 1, 1},
                          {false, false, false, false, false, false, false, true});
  coordinator.on_request(0, 0, 0);  // 3 units of 2 correlations
  coordinator.on_request(1, 0, 0);  // 3 of 1
  coordinator.on_request(1, 3, 1);  // the last one of 1
  EXPECT_EQ(coordinator.merged_by(1), 0);
  coordinator.on_request(0, 3, 1);
  const auto round = coordinator.on_request(1, 1, 2);
  ASSERT_EQ(round.size(), 2u);
  ASSERT_TRUE(coordinator.on_merged(round[0].order.round));
  EXPECT_EQ(coordinator.merged_by(0), 6);
  EXPECT_EQ(coordinator.merged_by(1), 4);
  EXPECT_EQ(coordinator.done(), 11);  // one by an earlier run
}

TEST(Coordinator, MergesAsOftenAsItIsAskedTo) {
  SimulatedSearch search(std::vector<SimulatedRank>(3), 5000);
  double next = 2;
  search.run([&](SimulatedSearch& now) {
    if (now.now() < next) return;
    next += 2;
    now.request_merge(false);
  });
  expect_each_once(search);
  EXPECT_GE(search.rounds(), 5);
}

TEST(Coordinator, AStopMergesWhatWasDoneAndLeavesTheRest) {
  SimulatedSearch search(std::vector<SimulatedRank>(3), 50'000);
  bool wanted = false;
  search.run([&](SimulatedSearch& now) {
    if (now.now() > 5 && !std::exchange(wanted, true)) now.request_merge(true);
  });
  EXPECT_TRUE(search.over());
  EXPECT_TRUE(search.stopped());
  const auto done = std::count(search.done().begin(), search.done().end(), 1);
  EXPECT_EQ(done, search.coordinator().done());
  EXPECT_EQ(std::count(search.coordinator().finished().begin(),
                       search.coordinator().finished().end(), true),
            done);
  EXPECT_GT(done, 1000);
  EXPECT_LT(done, 50'000);
}

TEST(Coordinator, AHurriedRankGivesBackWhatItDidNotBegin) {
  Coordinator coordinator({.ranks = 2, .chunk = 10}, std::vector<int32_t>(40, 1),
                          std::vector<bool>(40));
  coordinator.on_request(0, 0, 0);
  coordinator.on_request(1, 0, 0);
  const auto hurry = coordinator.request_merge(false);
  ASSERT_EQ(hurry.size(), 2u);
  EXPECT_EQ(hurry[1].order.kind, OrderKind::kYield);
  EXPECT_TRUE(coordinator.request_merge(false).empty());
  EXPECT_EQ(coordinator.request_merge(true).size(), 2u);
  coordinator.on_request(0, 10, 1);
  const auto round = coordinator.on_request(1, 4, 1);
  ASSERT_EQ(round.size(), 2u);
  EXPECT_EQ(round[0].order.kind, OrderKind::kMerge);
  const auto ended = coordinator.on_merged(1);
  ASSERT_TRUE(ended);
  // Where one has ended a launcher may end all of them: first rank 0 writes its checkpoint.
  EXPECT_TRUE(ended->empty());
  EXPECT_TRUE(coordinator.on_lost(1).empty());
  EXPECT_EQ(coordinator.end().back().order, (Order{.kind = OrderKind::kEnd, .stopped = true}));
  EXPECT_EQ(coordinator.done(), 14);
}

TEST(Coordinator, ARankLostInARoundIsNoPartOfIt) {
  SimulatedSearch search(std::vector<SimulatedRank>(4), 4000);
  search.lost_in_round_ = 2;
  search.run();
  expect_each_once(search);
  EXPECT_EQ(search.live(), 3);
}

TEST(Coordinator, ALostRankThatSpeaksAgainIsNotHeard) {
  Coordinator coordinator({.ranks = 2, .chunk = 5}, std::vector<int32_t>(10, 1),
                          std::vector<bool>(10));
  coordinator.on_request(0, 0, 0);
  coordinator.on_request(1, 0, 0);
  EXPECT_TRUE(coordinator.on_lost(1).empty());
  EXPECT_TRUE(coordinator.on_lost(1).empty());
  EXPECT_TRUE(coordinator.on_request(1, 5, 1).empty());
  const auto assignments = coordinator.on_request(0, 5, 1);
  ASSERT_EQ(assignments.size(), 1u);
  EXPECT_EQ(assignments[0].order.chunk, (std::vector<UnitRange>{{5, 10}}));
}

// Ranks are lost at random instants, rounds among them, statistics are merged now and then, and the
// statistics hold every unit once all the same.
TEST(Coordinator, SurvivorsTakeOverWhatTheLostHadNotMerged) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const size_t ranks = 2 + random() % 6;
    std::vector<SimulatedRank> group_options(ranks);
    for (SimulatedRank& one : group_options) {
      one.units_per_second = 10.0 + random() % 500;
      one.batch = 1 + static_cast<int>(random() % 16);
    }
    SimulatedSearch search(group_options, 500 + random() % 3000);
    search.run([&](SimulatedSearch& now) {
      if (random() % 40 == 0) now.request_merge(false);
      const int victim = 1 + static_cast<int>(random() % (ranks - 1));
      if (!now.ranks()[static_cast<size_t>(victim)].alive || random() % 60 != 0) return;
      if (random() % 2 == 0) {
        now.lost_in_round_ = victim;
      } else {
        now.mark_lost(victim);
        if (now.lost_in_round_ == victim) now.lost_in_round_ = 0;
      }
    });
    expect_each_once(search);
    int64_t merged = 0;
    for (size_t i = 0; i < ranks; ++i)
      merged += search.coordinator().merged_by(static_cast<int>(i));
    EXPECT_EQ(merged, search.coordinator().done());
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// 4,096 x 4,096 pixels, the default grid with 13 planes: 1.58 million orientations in pairs. Sixty-
// four devices whose speeds differ by up to a half.
TEST(Coordinator, SixtyFourUnequalRanksEndTogether) {
  constexpr size_t kUnits = 790'000;
  std::mt19937 random(7);
  std::vector<SimulatedRank> group_options(64);
  double speed = 0;
  for (SimulatedRank& one : group_options) {
    // 12,000 correlations a second, 26 in a unit.
    one.units_per_second = 12'000.0 / 26 * std::uniform_real_distribution<>(0.67, 1.0)(random);
    one.batch = 16;
    speed += one.units_per_second;
  }
  SimulatedSearch search(group_options, kUnits);
  double next_merge = 10;
  search.run([&](SimulatedSearch& now) {
    if (now.now() < next_merge) return;
    next_merge += 10;
    now.request_merge(false);
  });
  expect_each_once(search);
  const double ideal = static_cast<double>(kUnits) / speed;
  EXPECT_GT(ideal / search.now(), 0.98);
  double idle = 0;
  int64_t chunks = 0;
  for (const SimulatedRank& one : search.ranks()) idle = std::max(idle, search.now() - one.busy);
  chunks = search.traffic().messages / 2;
  std::cout << "64 ranks: ideal " << ideal << " s, took " << search.now() << " s, efficiency "
            << ideal / search.now() << "; idlest rank " << idle << " s; " << chunks
            << " requests with their answers, " << search.traffic().bytes << " bytes\n";
  // A question and an answer for a quarter of a second of each rank, and what the tail adds.
  EXPECT_LT(static_cast<double>(chunks), 64 * (4 * search.now() + 40));
}

}  // namespace
}  // namespace engine
