#include "slurm/rate_limit.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <stdexcept>

namespace slurm {
namespace {

// The most requests in any 60 s when as many are made as are allowed, at random instants.
int most_in_a_minute(int per_minute, unsigned seed) {
  std::mt19937 random(seed);
  RequestBudget budget(per_minute, 0);
  std::deque<int64_t> taken;
  size_t most = 0;
  for (int64_t now = 0; now < 20 * 60'000; now += random() % 2000) {
    for (unsigned tries = random() % 100; tries > 0 && budget.take(now); --tries) {
      taken.push_back(now);
    }
    while (!taken.empty() && taken.front() <= now - 60'000) taken.pop_front();
    most = std::max(most, taken.size());
  }
  return static_cast<int>(most);
}

TEST(RequestBudgetTest, NoMinuteHasMoreRequestsThanAllowed) {
  for (const int per_minute : {1, 2, 3, 5, 6, 7, 12, 13, 60, 120, 1000}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      EXPECT_LE(most_in_a_minute(per_minute, seed), per_minute) << "seed " << seed;
    }
  }
}

TEST(RequestBudgetTest, ASixthMayComeAtOnce) {
  RequestBudget budget(120, 0);
  EXPECT_EQ(budget.left(0), 20);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(0));
  EXPECT_EQ(budget.taken(), 20);
}

TEST(RequestBudgetTest, WhatIsNotUsedComesBackEvenly) {
  RequestBudget budget(120, 0);
  while (budget.take(0)) continue;
  EXPECT_EQ(budget.left(599), 0);
  EXPECT_EQ(budget.left(600), 1);
  EXPECT_EQ(budget.left(6000), 10);
  EXPECT_EQ(budget.left(3'600'000), 20);
}

TEST(RequestBudgetTest, AClockThatStandsStillGivesNothing) {
  RequestBudget budget(6, 1000);
  EXPECT_TRUE(budget.take(1000));
  EXPECT_FALSE(budget.take(1000));
  EXPECT_FALSE(budget.take(500));
}

TEST(RequestBudgetTest, FewRequestsAMinuteStillGoOn) {
  RequestBudget budget(1, 0);
  EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(59'999));
  EXPECT_TRUE(budget.take(60'001));
}

TEST(RequestBudgetTest, NoneAtAllIsRefused) {
  EXPECT_THROW(RequestBudget(0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace slurm
