// When GPUs are free, from what the cluster says of its nodes and of everybody's jobs.
#include "scheduler/forecast/cluster_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace scheduler {
namespace {

using slurm::JobState;
using slurm::NodeUse;
using slurm::QueuedJob;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int64_t kFactsTime = 1'700'000'000;
constexpr double kAtAnyMoment = 30;  // of what should have ended
constexpr double kYear = 365 * 24 * 3600.0;

// Two nodes n1, n2 with four GPUs and sixteen processors each, in the partition main.
class ClusterForecastTest : public testing::Test {
 protected:
  ClusterForecastTest() {
    facts_.complete = true;
    facts_.site.now = kFactsTime;
    facts_.site.partitions.value = {
        {"main", {.state = "UP", .is_default = true, .most_minutes = 600}},
        {"side", {.state = "UP", .most_minutes = 60}}};
    facts_.site.nodes.value.emplace();
    for (const char* name : {"n1", "n2"}) add_node(name, {"main"});
  }

  slurm::NodeFacts& add_node(const std::string& name, const slurm::Names& partitions) {
    auto& nodes = facts_.site.nodes.value->each;
    nodes.push_back({.name = name, .partitions = partitions, .cpus = 16, .gpus = 4});
    return nodes.back();
  }
  slurm::NodeFacts& node(size_t index) { return facts_.site.nodes.value->each.at(index); }

  // Somebody's, that began so long ago and reaches its limit in so long.
  QueuedJob& runs(const std::string& nodes, int gpus, int64_t began, int64_t left) {
    QueuedJob& job = facts_.running.emplace_back();
    job.status = {.job_id = "1", .name = "other", .state = JobState::kRunning};
    job.status.gpus = gpus;
    job.status.start_time = kFactsTime - began;
    job.limit_end = kFactsTime + left;
    job.node_list = nodes;
    job.partitions = {"main"};
    return job;
  }

  QueuedJob& waits(int nodes, int gpus, int64_t limit) {
    QueuedJob& job = facts_.waiting.emplace_back();
    job.status = {.job_id = "2", .name = "next", .state = JobState::kPending};
    job.status.reason = "Priority";
    job.status.gpus = gpus;
    job.nodes = nodes;
    job.limit_minutes = limit;
    job.partitions = {"main"};
    job.priority = 100;
    return job;
  }

  LaneForecast forecast() const { return forecast_lane(facts_, question_); }

  slurm::ClusterFacts facts_;
  ForecastQuestion question_;
};

TEST_F(ClusterForecastTest, GpusWithoutAJobAreFree) {
  const LaneForecast lane = forecast();
  EXPECT_THAT(lane.nodes, ElementsAre("n1", "n2"));
  EXPECT_THAT(lane.gpus.likely, ElementsAre(ElementsAre(0, 0, 0, 0), ElementsAre(0, 0, 0, 0)));
  EXPECT_EQ(lane.gpus.likely, lane.gpus.late);
}

TEST_F(ClusterForecastTest, OtherPeoplesJobsEndAtTheirLimitTimesTheLearnedRatio) {
  runs("n[1-2]", 3, 1000, 9000);
  EXPECT_THAT(forecast().gpus.likely,
              ElementsAre(ElementsAre(9000, 9000, 0, 0), ElementsAre(9000, 0, 0, 0)))
      << "1 until it is known";
  question_.limit_ratio = 0.5;
  EXPECT_THAT(forecast().gpus.likely.at(0), ElementsAre(4000, 4000, 0, 0));
  EXPECT_THAT(forecast().gpus.late.at(0), ElementsAre(9000, 9000, 0, 0)) << "the limit itself";
  question_.limit_ratio = 0.05;
  EXPECT_THAT(forecast().gpus.likely.at(0), ElementsAre(450, 450, 0, 0))
      << "it has run for longer than that: of what is left";
}

TEST_F(ClusterForecastTest, OurJobsEndAsPredicted) {
  QueuedJob& job = runs("n1", 4, 1000, 9000);
  job.status.name = "margay-x-1-a1";
  job.ours = true;
  question_.ours["margay-x-1-a1"] = {.likely = 700, .late = 900};
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(700));
  EXPECT_THAT(forecast().gpus.late.at(0), Each(900));
  job.ours = false;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(9000)) << "somebody's of the same name";
}

TEST_F(ClusterForecastTest, WhatShouldHaveEndedIsFreeAtAnyMomentButNotNow) {
  runs("n1", 1, 9000, -60);
  runs("n1", 1, 100, 9000).status.state = JobState::kCompleting;
  QueuedJob& ours = runs("n1", 1, 100, 9000);
  ours.ours = true;
  question_.ours["other"] = {.likely = -5, .late = -1};
  EXPECT_THAT(forecast().gpus.likely.at(0),
              ElementsAre(kAtAnyMoment, kAtAnyMoment, kAtAnyMoment, 0));
}

TEST_F(ClusterForecastTest, AJobWithoutALimitEndsWithItsPartitions) {
  runs("n1", 4, 600, 0).limit_end = 0;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(600 * 60 - 600));
  facts_.site.partitions.value->at("main").most_minutes.reset();
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(kYear - 600));
}

TEST_F(ClusterForecastTest, GpusThatNoJobIsShownForAreBusyUntilTheirPartitionsLimit) {
  add_node("n3", {"main", "side"});
  facts_.unseen["n3"].gpus = {kFactsTime - 1000, kFactsTime - 100'000};
  EXPECT_THAT(forecast().gpus.likely.at(2), ElementsAre(36'000 - 1000, kAtAnyMoment, 0, 0))
      << "the longest limit of its partitions";
  question_.limit_ratio = 0.1;
  EXPECT_EQ(forecast().gpus.likely.at(2).at(0), 35'000) << "nothing is known of its length";
}

TEST_F(ClusterForecastTest, NodesThatAreDownDrainedOrReservedAreLeftOut) {
  for (const NodeUse use : {NodeUse::kDown, NodeUse::kDrained, NodeUse::kReserved}) {
    node(0).use = use;
    EXPECT_THAT(forecast().nodes, ElementsAre("n2")) << to_string(use);
    EXPECT_EQ(forecast().gpus.late.size(), 1U);
  }
}

TEST_F(ClusterForecastTest, ALaneIsThePartitionsNodes) {
  add_node("n3", {"side"});
  EXPECT_THAT(forecast().nodes, ElementsAre("n1", "n2")) << "the default one's";
  question_.partition = "side";
  EXPECT_THAT(forecast().nodes, ElementsAre("n3"));
  question_.partition = "gone";
  EXPECT_THAT(forecast().gpus.likely, IsEmpty());
}

TEST_F(ClusterForecastTest, JobsThatGoFirstAreTakenInSlurmsOrder) {
  runs("n1", 4, 0, 600);
  waits(2, 8, 10);
  waits(1, 1, 5);
  const LaneForecast lane = forecast();
  EXPECT_THAT(lane.gpus.likely.at(0), UnorderedElementsAre(1500, 1200, 1200, 1200));
  EXPECT_THAT(lane.gpus.likely.at(1), Each(1200)) << "both nodes wait for the busy one";
}

TEST_F(ClusterForecastTest, JobsWithLessPriorityOrForAnotherCauseDoNotGoFirst) {
  waits(1, 4, 10).priority = 99;
  waits(1, 4, 10).status.held = true;
  waits(1, 4, 10).status.reason = "Dependency";
  waits(1, 4, 10).status.reason = "PartitionDown";
  waits(1, 0, 10);
  waits(3, 12, 10);
  question_.priority = 100;
  EXPECT_THAT(forecast().gpus.likely, Each(Each(0)));
  question_.priority = 99;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(600));
  question_.priority.reset();
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(600));
  EXPECT_THAT(forecast().gpus.likely.at(1), Each(0));
}

TEST_F(ClusterForecastTest, OurOwnWaitingJobsAreTakenWhenTheirLengthIsGiven) {
  QueuedJob& job = waits(1, 4, 10);
  job.ours = true;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(0));
  question_.ours["next"] = {.likely = 200, .late = 300};
  question_.priority = 5000;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(200));
  EXPECT_THAT(forecast().gpus.late.at(0), Each(300));
}

TEST_F(ClusterForecastTest, AJobDoesNotStartBeforeSlurmExpectsIt) {
  runs("n1", 4, 0, 600);
  waits(1, 4, 10).expected_start = kFactsTime + 800;
  const LaneForecast lane = forecast();
  EXPECT_THAT(lane.gpus.likely.at(0), Each(1400)) << "on what is free last before that";
  EXPECT_THAT(lane.gpus.likely.at(1), Each(0));
  facts_.waiting.at(0).expected_start = kFactsTime - 800;
  EXPECT_THAT(forecast().gpus.likely.at(1), Each(600)) << "it could have started already";
}

TEST_F(ClusterForecastTest, EachTaskOfAnArrayIsAJob) {
  waits(1, 1, 10).waiting_tasks = 9;
  EXPECT_THAT(forecast().gpus.likely.at(1), Each(600));
  EXPECT_THAT(forecast().gpus.likely.at(0), UnorderedElementsAre(600, 600, 600, 1200));
  EXPECT_EQ(forecast().gpus.not_placed, 0);
  facts_.waiting.at(0).waiting_tasks = 1'000'000;
  EXPECT_EQ(forecast().gpus.not_placed, 998'000);
}

TEST_F(ClusterForecastTest, GpusOfANodeWithoutFreeProcessorsWaitForThem) {
  runs("n1", 0, 0, 900).cpus = 10;
  runs("n1", 1, 0, 500).cpus = 6;
  node(0).cpus_busy = 15;
  EXPECT_THAT(forecast().gpus.likely.at(0), ElementsAre(500, 0, 0, 0));
  node(0).cpus_busy = 16;
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(500)) << "until the first of its jobs ends";
  facts_.running.clear();
  facts_.unseen["n1"].cpus.assign(16, kFactsTime);
  EXPECT_THAT(forecast().gpus.likely.at(0), Each(36'000)) << "of jobs that are not shown, too";
}

TEST_F(ClusterForecastTest, OnASiteWithoutGpusARanksProcessorsAreADevice) {
  for (size_t i : {0, 1}) node(i).gpus = 0;
  question_.cpus_per_device = 4;
  runs("n1", 0, 0, 900).cpus = 5;
  facts_.unseen["n2"].cpus = {kFactsTime - 50, kFactsTime - 40, kFactsTime};
  QueuedJob& next = waits(1, 0, 10);
  next.cpus = 8;
  const LaneForecast lane = forecast();
  EXPECT_THAT(lane.gpus.likely.at(0), UnorderedElementsAre(900, 900, 600, 600));
  EXPECT_THAT(lane.gpus.likely.at(1), ElementsAre(36'000, 0, 0, 0)) << "the youngest processor's";
}

TEST_F(ClusterForecastTest, WithoutNodesNothingIsKnown) {
  facts_.site.nodes.value.reset();
  facts_.site.partitions.value.reset();
  runs("n1", 4, 0, 600);
  waits(1, 4, 10);
  EXPECT_THAT(forecast().gpus.likely, IsEmpty());
}

// --- properties --------------------------------------------------------------------------------

class AnyCluster : public ClusterForecastTest {
 protected:
  int any(int least, int most) { return std::uniform_int_distribution<>(least, most)(random_); }

  void make(int seed) {
    random_.seed(static_cast<unsigned>(seed));
    auto& nodes = facts_.site.nodes.value->each;
    nodes.clear();
    facts_.running.clear();
    facts_.waiting.clear();
    const int count = any(1, 6);
    for (int i = 0; i < count; ++i) {
      add_node("n" + std::to_string(i), {"main"}).gpus = any(1, 4);
      if (any(0, 5) == 0) nodes.back().use = NodeUse::kDown;
    }
    for (int i = any(0, 8); i > 0; --i) {
      runs("n" + std::to_string(any(0, count)), any(1, 4), any(0, 5000), any(-100, 5000));
    }
    for (int i = any(0, 8); i > 0; --i) {
      const int width = any(1, 3);
      waits(width, width * any(1, 2), any(1, 100));
      if (any(0, 2) == 0) facts_.waiting.back().expected_start = kFactsTime + any(-100, 9000);
    }
    question_.limit_ratio = any(0, 100) / 100.0;
  }

  static double total(const ClusterForecast& cluster) {
    double sum = 0;
    for (const NodeForecast& node : cluster) {
      for (const double end : node) sum += end;
    }
    return sum;
  }

  std::mt19937 random_;
};

TEST_F(AnyCluster, EveryUsableGpuHasOneTimeAndTheLateOneIsNotBeforeTheLikely) {
  for (int seed = 1; seed <= 2000; ++seed) {
    make(seed);
    facts_.waiting.clear();
    const LaneForecast lane = forecast();
    size_t at = 0;
    for (const slurm::NodeFacts& one : facts_.site.nodes.value->each) {
      if (one.use != NodeUse::kUsable) continue;
      ASSERT_EQ(lane.nodes.at(at), one.name) << seed;
      ASSERT_EQ(lane.gpus.likely.at(at).size(), static_cast<size_t>(one.gpus)) << seed;
      for (size_t gpu = 0; gpu < lane.gpus.likely.at(at).size(); ++gpu) {
        ASSERT_GE(lane.gpus.likely[at][gpu], 0) << seed;
        ASSERT_GE(lane.gpus.late[at][gpu], lane.gpus.likely[at][gpu]) << seed;
      }
      ++at;
    }
    ASSERT_EQ(lane.nodes.size(), at) << seed;
  }
}

TEST_F(AnyCluster, WhatWaitsLastMakesNothingFreeEarlier) {
  for (int seed = 1; seed <= 2000; ++seed) {
    make(seed);
    const LaneForecast without = forecast();
    waits(any(1, 3), any(1, 6), any(1, 100)).expected_start = kFactsTime + any(-100, 9000);
    const LaneForecast with = forecast();
    ASSERT_GE(total(with.gpus.likely), total(without.gpus.likely)) << seed;
    for (const Width width : {Width{}, Width{.gpus_per_node = 2}, Width{.nodes = 2}}) {
      const auto before = earliest_start(without.gpus.likely, width);
      const auto after = earliest_start(with.gpus.likely, width);
      ASSERT_EQ(before.has_value(), after.has_value()) << seed;
      ASSERT_GE(after.value_or(0), before.value_or(0)) << seed;
    }
  }
}

TEST_F(AnyCluster, JobsWithoutAnExpectedStartAreListScheduled) {
  for (int seed = 1; seed <= 2000; ++seed) {
    make(seed);
    for (QueuedJob& job : facts_.waiting) job.expected_start = 0;
    const std::vector<QueuedJob> jobs = std::exchange(facts_.waiting, {});
    ClusterForecast by_hand = forecast().gpus.late;
    for (const QueuedJob& job : jobs) {
      place(by_hand, {.nodes = job.nodes, .gpus_per_node = *job.status.gpus / job.nodes},
            60.0 * static_cast<double>(*job.limit_minutes));
    }
    facts_.waiting = jobs;
    ASSERT_EQ(forecast().gpus.late, by_hand) << seed;
  }
}

}  // namespace
}  // namespace scheduler
