// Thousands of histories in virtual time, each made by its seed: whatever is lost, late, doubled,
// forgotten or crashes, every micrograph is processed once.
//
// MARGAY_SEEDS=n tries n seeds, MARGAY_SEED=s only that one and tells what happened in it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "scheduler/crash_point.h"
#include "tests/unit/scheduler/model/model_world.h"

namespace tests {
namespace {

uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
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

void tell(uint64_t seeds, const Sums& sums) {
  std::cout << seeds << " seeds: " << sums.faults << " faults, " << sums.crashes.size()
            << " crashes, " << sums.runs << " runs; items";
  for (const auto& [state, count] : sums.ends) {
    if (count > 0) std::cout << " " << to_string(state) << " " << count;
  }
  std::cout << "; attempts";
  for (const auto& [state, count] : sums.attempts) {
    std::cout << " " << to_string(state) << " " << count;
  }
  std::cout << "\n";
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
  if (const uint64_t seed = number_from("MARGAY_SEED", 0); seed != 0) {
    ModelWorld world(seed);
    const std::string problem = world.run();
    for (const std::string& line : world.log()) std::cout << line << "\n";
    EXPECT_EQ(problem, "");
    return;
  }
  const bool is_long = std::getenv("MARGAY_LONG") != nullptr;
  const uint64_t seeds = number_from("MARGAY_SEEDS", is_long ? 10'000 : 300);
  Sums sums;
  for (uint64_t seed = 1; seed <= seeds; ++seed) try_seed(seed, sums);
  tell(seeds, sums);
  if (seeds >= 300) expect_wide(seeds, sums);
}

}  // namespace
}  // namespace tests
