#include "scheduler/forecast/wait_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using testing::ElementsAre;

constexpr Width kNode{.gpus_per_node = 2};
constexpr Width kTwoNodes{.nodes = 2, .gpus_per_node = 2};

TEST(WaitForecast, WholeNodesWaitForTheLastOfTheirGpus) {
  const ClusterForecast cluster = {{0, 50}, {30, 40}, {-5, 90}};
  EXPECT_EQ(earliest_start(cluster, {}), 0);
  EXPECT_EQ(earliest_start(cluster, kNode), 40);
  EXPECT_EQ(earliest_start(cluster, kTwoNodes), 50);
  EXPECT_EQ(earliest_start({{-5}}, {}), 0) << "has been free for a while";
}

TEST(WaitForecast, PartOfANodeWaitsForAsManyOfItsGpusAsItNeeds) {
  const ClusterForecast cluster = {{70, 10, 40, 90}};
  EXPECT_EQ(earliest_start(cluster, {.gpus_per_node = 1}), 10);
  EXPECT_EQ(earliest_start(cluster, {.gpus_per_node = 2}), 40);
  EXPECT_EQ(earliest_start(cluster, {.gpus_per_node = 3}), 70);
  EXPECT_EQ(earliest_start(cluster, {.gpus_per_node = 4}), 90);
}

TEST(WaitForecast, SeveralWidthsStartAsEachAlone) {
  const ClusterForecast cluster = {{70, 10, 40, 90}, {5, 80}, {20, 30, 60, 50}, {-1, 0, 0, 0}};
  EarliestStarts starts(cluster);
  for (const int gpus : {4, 1, 2, 3, 1, 5}) {
    for (int nodes = 0; nodes <= 5; ++nodes) {
      const Width width{.nodes = nodes, .gpus_per_node = gpus};
      EXPECT_EQ(starts.of(width), earliest_start(cluster, width)) << to_string(width);
    }
  }
  EXPECT_EQ(starts.of({.nodes = 3, .gpus_per_node = 4}), 90);
  EXPECT_EQ(starts.of({.nodes = 4, .gpus_per_node = 2}), 80);
}

TEST(WaitForecast, WhatTheClusterDoesNotHaveIsNeverFree) {
  const ClusterForecast cluster = {{0, 0}, {0}};
  EXPECT_EQ(earliest_start(cluster, kTwoNodes), std::nullopt) << "one node has one GPU alone";
  EXPECT_EQ(earliest_start(cluster, {.gpus_per_node = 3}), std::nullopt);
  EXPECT_EQ(earliest_start({}, {}), std::nullopt);
  ClusterForecast same = cluster;
  EXPECT_EQ(place(same, kTwoNodes, 10), std::nullopt);
  EXPECT_EQ(same, cluster);
}

TEST(WaitForecast, JobsThatGoFirstTakeTheirPlace) {
  ClusterForecast cluster = {{0, 0}, {0, 0}};
  EXPECT_EQ(place(cluster, {}, 100), 0);
  EXPECT_EQ(place(cluster, kTwoNodes, 10), 100) << "both nodes wait for the one GPU";
  EXPECT_EQ(place(cluster, {}, 5), 110);
  EXPECT_THAT(cluster, ElementsAre(ElementsAre(115, 110), ElementsAre(110, 110)));
}

TEST(WaitForecast, AJobThatStartsLaterTakesWhatIsFreeLastBeforeThat) {
  ClusterForecast cluster = {{0, 50}, {30, 40}, {-5, 90}};
  EXPECT_EQ(place(cluster, {}, 10, 60), 60);
  EXPECT_EQ(place(cluster, kNode, 10, 60), 60);
  EXPECT_THAT(cluster, ElementsAre(ElementsAre(70, 70), ElementsAre(30, 70), ElementsAre(-5, 90)));
  EXPECT_EQ(place(cluster, kNode, 5, 20), 70) << "not before it has room";
  EXPECT_EQ(place(cluster, {}, 5, -20), 0);
}

}  // namespace
}  // namespace scheduler
