// Thousands of histories in virtual time, each made by its seed: whatever is lost, late, doubled,
// forgotten or crashes, every micrograph is processed once.
//
// MARGAY_SEEDS=n tries n seeds, MARGAY_SEEDS=a-b those from a to b, MARGAY_SEED=s only that one and
// says what happened in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "scheduler/crash_point.h"
#include "tests/unit/scheduler/model/model_world.h"

namespace tests {
namespace {

struct Seeds {
  uint64_t first = 1;
  uint64_t last = 100;
  uint64_t count() const { return last + 1 - first; }
};

Seeds seeds_from_environment() {
  const char* const text = std::getenv("MARGAY_SEEDS");
  if (text == nullptr) return {};
  char* rest = nullptr;
  const uint64_t number = std::strtoull(text, &rest, 10);
  if (*rest != '-') return {.last = number};
  return {.first = number, .last = std::strtoull(rest + 1, nullptr, 10)};
}

struct Sums {
  std::multiset<std::string> crashes{};
  uint64_t faults = 0;
  uint64_t runs = 0;
  std::map<db::ItemState, int64_t> ends{};
  std::map<db::AttemptState, int64_t> attempts{};
};

void try_seed(uint64_t seed, Sums& sums) {
  ModelWorld world(seed);
  const std::string problem = world.run();
  sums.crashes.insert(world.crashes().begin(), world.crashes().end());
  sums.faults += static_cast<uint64_t>(world.faults());
  sums.runs += static_cast<uint64_t>(world.runs());
  for (const auto& [state, count] : world.ends()) sums.ends[state] += count;
  for (const auto& [state, count] : world.attempts()) sums.attempts[state] += count;
  EXPECT_EQ(problem, "") << "seed " << seed << ": MARGAY_SEED=" << seed << " tries it alone";
}

void report(uint64_t seeds, const Sums& sums) {
  std::cout << seeds << " seeds: " << sums.faults << " faults, " << sums.crashes.size()
            << " crashes, " << sums.runs << " runs; items";
  for (const auto& [state, count] : sums.ends) {
    if (count > 0) std::cout << " " << to_string(state) << " " << count;
  }
  std::cout << "; attempts";
  for (const auto& [state, count] : sums.attempts) {
    std::cout << " " << to_string(state) << " " << count;
  }
  size_t rarest = sums.crashes.size();
  for (const std::string& point : scheduler::crash_point_names()) {
    rarest = std::min(rarest, sums.crashes.count(point));
  }
  std::cout << "; at least " << rarest << " crashes at each point\n";
}

// A model in which nothing goes wrong proves nothing.
void expect_wide(uint64_t seeds, const Sums& sums) {
  for (const db::AttemptState state :
       {db::AttemptState::kRejected, db::AttemptState::kDone, db::AttemptState::kCheckpointed,
        db::AttemptState::kFailed, db::AttemptState::kLost, db::AttemptState::kCancelled,
        db::AttemptState::kNeverStarted}) {
    EXPECT_GT(sums.attempts.count(state), 0u) << "no attempt ended as " << to_string(state);
  }
  EXPECT_GT(sums.faults, seeds);
  if (seeds < 2000) return;
  for (const std::string& point : scheduler::crash_point_names()) {
    EXPECT_GT(sums.crashes.count(point), 0u) << "no crash at " << point;
  }
}

TEST(Model, EveryMicrographIsProcessedOnceWhateverHappens) {
  if (const char* const seed = std::getenv("MARGAY_SEED")) {
    ModelWorld world(std::strtoull(seed, nullptr, 10));
    const std::string problem = world.run();
    for (const std::string& line : world.log()) std::cout << line << "\n";
    EXPECT_EQ(problem, "");
    return;
  }
  const Seeds seeds = seeds_from_environment();
  Sums sums;
  for (uint64_t seed = seeds.first; seed <= seeds.last; ++seed) try_seed(seed, sums);
  report(seeds.count(), sums);
  if (seeds.count() >= 300) expect_wide(seeds.count(), sums);
}

}  // namespace
}  // namespace tests
