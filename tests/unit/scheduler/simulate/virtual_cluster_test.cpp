#include "scheduler/simulate/virtual_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace scheduler {
namespace {

using db::Priority;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Width kGpu{};
constexpr Width kNode{.gpus_per_node = 4};
constexpr Width kTwoNodes{.nodes = 2, .gpus_per_node = 4};

const SearchTime& hundred_seconds() {
  static const SearchTime time{.work = 65, .model = {.serial_seconds = 20, .sigma = 0}};
  return time;
}

VirtualJob job(size_t item, const Width& width, Priority priority = Priority::kNormal) {
  return {.item = item,
          .priority = priority,
          .rank = priority,
          .width = width,
          .seconds = 100,
          .time = &hundred_seconds()};
}

TEST(VirtualCluster, StartsWhatHasRoomClassBeforeClassInTheOrderOfSubmission) {
  VirtualCluster cluster(1, 4);
  cluster.submit(job(1, kGpu, Priority::kLow));
  cluster.submit(job(2, kGpu, Priority::kHigh));
  cluster.submit(job(3, kGpu, Priority::kHigh));
  EXPECT_THAT(cluster.start_waiting(0), ElementsAre(2, 3, 1));
  EXPECT_EQ(cluster.running(), 3);
}

TEST(VirtualCluster, AJobThatWaitsForItsGpusKeepsBackThoseBehindIt) {
  VirtualCluster cluster(2, 4);
  cluster.submit(job(1, kGpu));
  EXPECT_THAT(cluster.start_waiting(0), ElementsAre(1));
  cluster.submit(job(2, kTwoNodes));
  cluster.submit(job(3, kGpu));
  EXPECT_THAT(cluster.start_waiting(10), IsEmpty());
  EXPECT_EQ(cluster.waiting().at(Priority::kNormal), 2);
  EXPECT_EQ(cluster.next_end(), 100);
  EXPECT_EQ(cluster.take_ended(100).at(0).item, 1U);
  EXPECT_THAT(cluster.start_waiting(100), ElementsAre(2));
}

TEST(VirtualCluster, SingleGpusAreTakenOnNodesThatAreInUseSoThatWholeOnesStayFree) {
  VirtualCluster cluster(2, 4);
  for (size_t item = 1; item <= 4; ++item) cluster.submit(job(item, kGpu));
  cluster.submit(job(5, kNode));
  EXPECT_THAT(cluster.start_waiting(0), ElementsAre(1, 2, 3, 4, 5));
}

TEST(VirtualCluster, AJobThatIsTakenAwayFreesItsGpus) {
  VirtualCluster cluster(1, 4);
  cluster.submit(job(1, kNode));
  cluster.start_waiting(0);
  cluster.submit(job(2, kNode));
  cluster.submit(job(3, kNode));
  EXPECT_EQ(cluster.take(1).started, 0);
  cluster.take(2);
  EXPECT_THAT(cluster.start_waiting(50), ElementsAre(3));
  EXPECT_EQ(cluster.next_end(), 150);
}

TEST(VirtualCluster, ForecastsWhatRunsAndWhatWaits) {
  VirtualCluster cluster(2, 1);
  cluster.submit(job(1, kGpu));
  cluster.start_waiting(0);
  EXPECT_THAT(cluster.forecast(40).likely, ElementsAre(ElementsAre(60), ElementsAre(0)));
  cluster.submit(job(2, {.nodes = 2}));
  const GpuForecast gpus = cluster.forecast(40);
  EXPECT_EQ(gpus.likely[0], gpus.likely[1]) << "both are held by what waits";
  EXPECT_GT(gpus.likely[0][0], 100);
}

TEST(VirtualCluster, JobsOfOthersKeepTheirGpusUntilTheirEnd) {
  VirtualCluster cluster(2, 4);
  cluster.hold(kNode, 30);
  EXPECT_THROW(cluster.hold(kTwoNodes, 30), std::invalid_argument);
  cluster.submit(job(1, kTwoNodes));
  EXPECT_THAT(cluster.start_waiting(0), IsEmpty());
  EXPECT_EQ(cluster.running(), 0);
  EXPECT_EQ(cluster.next_end(), 30);
  EXPECT_FALSE(cluster.release_others(29));
  EXPECT_TRUE(cluster.release_others(30));
  EXPECT_THAT(cluster.start_waiting(30), ElementsAre(1));
}

TEST(VirtualCluster, ForecastsTheEndsOfOthersJobs) {
  VirtualCluster cluster(2, 1);
  cluster.hold(kGpu, 100);
  EXPECT_THAT(cluster.forecast(40).late, ElementsAre(ElementsAre(60), ElementsAre(0)));
}

TEST(VirtualCluster, RefusesAWidthThatItDoesNotHave) {
  VirtualCluster cluster(2, 4);
  EXPECT_THROW(cluster.submit(job(1, {.nodes = 4, .gpus_per_node = 4})), std::invalid_argument);
  EXPECT_THROW(cluster.submit(job(1, {.gpus_per_node = 8})), std::invalid_argument);
}

}  // namespace
}  // namespace scheduler
