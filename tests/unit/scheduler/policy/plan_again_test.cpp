// Plan, carry out, plan again: what the policy promises of the whole life of a queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/simulated_site.h"

namespace scheduler {
namespace {

constexpr unsigned kSites = 5'000;
constexpr int kMostInstants = 2'000;

TEST(PlanAgainTest, EveryItemEndsAndNothingIsStoppedTwiceOrWiderThanItsClassMayHave) {
  int widenings = 0;
  for (unsigned seed = 1; seed <= kSites; ++seed) {
    SimulatedSite site(seed);
    ASSERT_THAT(site.run(kMostInstants), testing::IsEmpty()) << "site " << seed;
    widenings += site.widenings();
  }
  EXPECT_GT(widenings, 0) << "none of the sites tries what is promised";
}

}  // namespace
}  // namespace scheduler
