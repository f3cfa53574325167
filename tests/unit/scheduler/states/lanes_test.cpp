#include "scheduler/states/lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr int64_t kOneMinute = 60'000;

TEST(Lanes, AnItemIsInThePlainLaneUnlessItAsksForAnotherPlace) {
  const std::map<std::string, std::string> plain = {{"partition", "gpu"}, {"qos", "normal"}};
  EXPECT_EQ(lane_of({}, plain, ""), "");
  EXPECT_EQ(lane_of({{"partition", "gpu"}, {"time", "10"}, {"job-name", "x"}}, plain, ""), "");
  EXPECT_EQ(lane_of({{"qos", "short"}, {"account", "lab"}}, plain, ""), "account=lab, qos=short");
  EXPECT_EQ(lane_of({}, plain, "shape nodes"), "shape nodes");
  EXPECT_EQ(lane_of({{"qos", "short"}}, plain, "shape nodes"), "qos=short, shape nodes");
}

TEST(Lanes, ARefusedLaneIsTriedAtDoublingIntervalsAndTheOthersStayOpen) {
  Lanes lanes(minutes(1), minutes(5));
  int64_t now = 0;
  for (const int64_t wait : {1, 2, 4, 5, 5}) {
    EXPECT_EQ(lanes.hold("qos=short", "limit", now), now == 0) << "news once";
    now += wait * kOneMinute;
    EXPECT_TRUE(lanes.is_held("qos=short", now - 1));
    EXPECT_FALSE(lanes.is_held("qos=short", now));
    EXPECT_FALSE(lanes.is_held("", now - 1));
  }
  lanes.accepted("qos=short");
  EXPECT_TRUE(lanes.hold("qos=short", "limit", now)) << "news again";
  EXPECT_FALSE(lanes.is_held("qos=short", now + kOneMinute)) << "and from the beginning";
}

TEST(Lanes, AJobIsInALaneWhenItAsksForAllThatNamesTheLane) {
  const std::map<std::string, std::string> place = {
      {"partition", "gpu,fast"}, {"qos", "normal"}, {"time", "10"}};
  EXPECT_TRUE(is_in_lane(place, {{"partition", "gpu"}}));
  EXPECT_TRUE(is_in_lane(place, {{"partition", "fast"}, {"qos", "normal"}}));
  EXPECT_FALSE(is_in_lane(place, {{"partition", "fas"}}));
  EXPECT_FALSE(is_in_lane(place, {{"partition", "gpu"}, {"qos", "short"}}));
  EXPECT_FALSE(is_in_lane(place, {{"account", "lab"}}));
}

TEST(Lanes, TheSizeOfAnItemIsWhatItAsksForBesidesItsPlace) {
  EXPECT_EQ(size_of({{"qos", "short"}, {"job-name", "x"}, {"begin", "now+1day"}}), "");
  EXPECT_EQ(size_of({{"time", "10"}, {"mem", "600G"}, {"exclusive", ""}, {"account", "lab"}}),
            "exclusive, mem=600G, time=10");
}

TEST(Lanes, AJobOfOneLaneThatEndsOpensThatLaneAlone) {
  Lanes lanes(minutes(1), minutes(5));
  EXPECT_TRUE(lanes.empty());
  lanes.hold("a", "limit of a", 0);
  lanes.hold("b", "limit of b", 0);
  lanes.job_ended("a");
  lanes.job_ended("c");
  EXPECT_THAT(lanes.held(1), ElementsAre(Pair("b", "limit of b")));
}

TEST(Lanes, AJobThatEndsOpensAllLanesForATry) {
  Lanes lanes(minutes(1), minutes(5));
  lanes.hold("a", "limit of a", 0);
  lanes.hold("b", "limit of b", 0);
  EXPECT_THAT(lanes.held(1), ElementsAre(Pair("a", "limit of a"), Pair("b", "limit of b")));
  lanes.job_ended();
  EXPECT_THAT(lanes.held(1), IsEmpty());
  lanes.hold("a", "limit of a", 1);
  EXPECT_FALSE(lanes.is_held("a", 1 + kOneMinute)) << "a try that a job's end gave doubles nothing";
}

}  // namespace
}  // namespace scheduler
