#include "scheduler/states/host_exclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kNow = 1'000'000;
constexpr int kNodes = 16;

class HostExclusionTest : public testing::Test {
 protected:
  void failed(int64_t item, const std::string& host, const std::string& cause = "unknown",
              int64_t time = kNow) {
    failures_.push_back({.host = host,
                         .item_id = item,
                         .attempt_id = static_cast<int64_t>(failures_.size()) + 1,
                         .cause = cause,
                         .time = time});
  }
  std::set<std::string> excluded(int64_t item, int nodes = kNodes) const {
    return excluded_hosts(failures_, item, kNow, nodes, {});
  }
  std::vector<db::HostFailure> failures_;
};

TEST_F(HostExclusionTest, WithoutFailuresEveryHostIsGood) { EXPECT_THAT(excluded(1), IsEmpty()); }

TEST_F(HostExclusionTest, AnItemIsTriedAtAnotherHostThanTheOneWhereItFailed) {
  failed(1, "n01", "unknown");
  failed(1, "n02", "hardware");
  EXPECT_THAT(excluded(1), ElementsAre("n01", "n02"));
  EXPECT_THAT(excluded(2), IsEmpty()) << "one item alone does not indicate a bad host";
}

TEST_F(HostExclusionTest, ADeadNodeOrAMissingEngineAsksForNoOtherHost) {
  failed(1, "n01", "node_failed");
  failed(1, "n02", "launch");
  EXPECT_THAT(excluded(1), IsEmpty());
}

TEST_F(HostExclusionTest, ThreeItemsThatFailAtOneHostIndicateABadHost) {
  failed(1, "n01");
  failed(2, "n01", "node_failed");
  failed(2, "n01");
  EXPECT_THAT(excluded(9), IsEmpty()) << "two items";
  failed(3, "n01", "hardware");
  EXPECT_THAT(excluded(9), ElementsAre("n01"));
}

TEST_F(HostExclusionTest, AnItemThatFailsEverywhereIndicatesNoBadHost) {
  for (const char* host : {"n01", "n02", "n03"}) {
    failed(1, host);
    failed(2, host);
    failed(3, host);
  }
  EXPECT_THAT(excluded(1), IsEmpty());
  EXPECT_THAT(excluded(9), IsEmpty());
}

TEST_F(HostExclusionTest, AnExclusionExpires) {
  failed(1, "n01", "unknown", kNow - 86'401);
  EXPECT_THAT(excluded(1), IsEmpty());
  failed(1, "n02", "unknown", kNow - 86'399);
  EXPECT_THAT(excluded(1), ElementsAre("n02"));
}

TEST_F(HostExclusionTest, NeverMoreThanAQuarterOfTheNodesAndTheWorstFirst) {
  for (int host = 1; host <= 8; ++host) {
    for (int64_t item = 0; item < 3 + host; ++item) {
      failed(100 * host + item, "n0" + std::to_string(host));
    }
  }
  EXPECT_THAT(excluded(1), ElementsAre("n05", "n06", "n07", "n08"));
  failed(1, "n01");
  EXPECT_THAT(excluded(1), ElementsAre("n01", "n06", "n07", "n08")) << "its own come first";
  EXPECT_THAT(excluded(1, 7), ElementsAre("n01"));
  EXPECT_THAT(excluded(1, 3), IsEmpty());
  EXPECT_THAT(excluded(1, 0), IsEmpty()) << "nobody knows how many a quarter is";
}

TEST_F(HostExclusionTest, AListOfHostsBlamesNone) {
  EXPECT_TRUE(is_one_host("n01"));
  EXPECT_TRUE(is_one_host("gpu-3.cluster.example"));
  EXPECT_FALSE(is_one_host("n[01-04]"));
  EXPECT_FALSE(is_one_host("n01,n02"));
  EXPECT_FALSE(is_one_host(""));
}

TEST_F(HostExclusionTest, OnlyWhatMayBeTheHostsFaultIsRemembered) {
  for (const char* cause : {"hardware", "launch", "unknown", "node_failed"}) {
    EXPECT_TRUE(indicates_bad_host(cause)) << cause;
  }
  for (const char* cause : {"", "bad_input", "timeout", "preempted", "device_memory", "vanished"}) {
    EXPECT_FALSE(indicates_bad_host(cause)) << cause;
  }
}

}  // namespace
}  // namespace scheduler
