// Bulk jobs run in segments, so that GPUs come free for what is more urgent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/forecast/cluster_forecast.h"
#include "scheduler/states/transition.h"
#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::HasSubstr;

constexpr int64_t kSegment = 3600;

class SegmentsTest : public testing::Test {
 protected:
  SegmentsTest() {
    const Width node{.gpus_per_node = 4};
    snapshot_.now = 1'000'000;
    snapshot_.limits = {.slots = 1000,
                        .queues = true,
                        .width = {},
                        .menu = widths_of(4, kExampleNodes),
                        .classes = {{Priority::kLow, {{}, {}, node, 0.98}},
                                    {Priority::kNormal, {{}, node, node, 0.97}},
                                    {Priority::kUrgent, {{}, node, node, 0.50}}},
                        .segment = kSegment};
    snapshot_.times = {SearchTime{.work = kLong, .model = example_model()}};
    snapshot_.gpus = GpuForecast{idle(), idle()};
  }
  JobStart start_of(PlanItem item) {
    item.id = 1;
    item.kind = 0;
    snapshot_.items = {std::move(item)};
    const Plan made = plan(snapshot_);
    return made.starts.empty() ? JobStart{} : made.starts.front();
  }

  QueueSnapshot snapshot_;
};

TEST_F(SegmentsTest, ABulkJobIsCutAndAnUrgentOneIsNot) {
  EXPECT_EQ(start_of({.priority = Priority::kLow}).segment, kSegment);
  EXPECT_EQ(start_of({.priority = Priority::kNormal}).segment, kSegment);
  EXPECT_EQ(start_of({.priority = Priority::kUrgent}).segment, 0);
  snapshot_.limits.segment = 0;
  EXPECT_EQ(start_of({.priority = Priority::kLow}).segment, 0);
}

TEST_F(SegmentsTest, WhatIsDoneWithinASegmentRunsWhole) {
  // 90 % of all searches take no longer than 1.29 times what they are expected to.
  EXPECT_EQ(start_of({.priority = Priority::kLow, .left = 0.045F}).segment, 0);
  EXPECT_EQ(start_of({.priority = Priority::kLow, .left = 0.06F}).segment, kSegment);
}

TEST_F(SegmentsTest, AnItemWhoseOwnOptionsSayHowLargeItsJobIsRunsWhole) {
  const PlanItem timed =
      asking({.priority = Priority::kLow}, {.own_options = true, .size = "time=30-0"});
  EXPECT_EQ(start_of(timed).segment, 0);
  const PlanItem wide = asking({.priority = Priority::kLow},
                               {.own_options = true, .own_width = true, .size = "gpus=4"});
  EXPECT_EQ(start_of(wide).segment, 0);
}

TEST_F(SegmentsTest, WhatItsCheckpointHasIsNotSearchedAgain) {
  const JobStart start = start_of({.priority = Priority::kLow, .left = 0.5F});
  EXPECT_THAT(start.explanation,
              HasSubstr("8.0 GPU hours of 16.0 left; time until done: 1 GPU 8.0 h"));
}

// Without a checkpoint it is at risk, since a node takes 243 minutes, and 313 with 90 % certainty.
TEST_F(SegmentsTest, ADeadlineIsJudgedByWhatIsLeft) {
  const auto finish_by = snapshot_.now + 3 * 3600;
  PlanItem item{.priority = Priority::kNormal, .finish_by = finish_by};
  EXPECT_THAT(start_of(item).explanation, HasSubstr("AT RISK"));
  item.left = 0.25F;
  const JobStart start = start_of(item);
  EXPECT_THAT(start.explanation, testing::Not(HasSubstr("AT RISK")));
  EXPECT_LT(plan(snapshot_).outlooks.front().done_by, finish_by);
}

TEST_F(SegmentsTest, OurBulkJobsAreExpectedToEndWithTheirSegments) {
  const SearchTime& time = *snapshot_.times.front();
  const JobForecast whole = forecast_job(time, {}, 600);
  EXPECT_GT(whole.likely, 15 * kHour);
  const JobForecast cut = forecast_job(time, {}, 600, 1, kSegment);
  EXPECT_EQ(cut.likely, kSegment - 600);
  EXPECT_EQ(cut.late, kSegment - 600);
  const JobForecast last = forecast_job(time, {}, 0, 0.01, kSegment);
  EXPECT_NEAR(last.likely, 0.01 * kLong + 35, 1);
}

// 64 GPUs are busy; how long an urgent item waits for them depends on the segments alone.
TEST_F(SegmentsTest, UrgentItemsAreWideBehindSegmentsAndNarrowBehindWholeJobs) {
  snapshot_.limits.classes[Priority::kUrgent].cap = {.nodes = 16, .gpus_per_node = 4};
  const SearchTime& time = *snapshot_.times.front();
  const auto behind = [&](int64_t segment) {
    ClusterForecast busy = idle();
    double ran = 0;
    for (NodeForecast& node : busy) {
      for (double& gpu : node) gpu = forecast_job(time, {}, ran += 50, 1, segment).likely;
    }
    snapshot_.gpus = GpuForecast{busy, busy};
    return start_of({.priority = Priority::kUrgent}).width.gpus();
  };
  EXPECT_GT(behind(kSegment), 16);
  EXPECT_LT(behind(0), 16);
}

TEST(SegmentEnd, IsNoFailureAndCountsAsNone) {
  Evidence evidence;
  evidence.job = slurm::JobStatus{};
  evidence.job->state = slurm::JobState::kFailed;
  evidence.job->exit_code = 85;
  evidence.segment = "1.0 h";
  const db::Attempt attempt{.state = db::AttemptState::kRunning, .job_id = "7"};
  const Outcome outcome = judge(attempt, evidence, {{"segment", 500}}, {});
  EXPECT_EQ(outcome.attempt, db::AttemptState::kCheckpointed);
  EXPECT_EQ(outcome.cause, "segment");
  EXPECT_EQ(outcome.item, db::ItemState::kQueued);
  EXPECT_EQ(outcome.wait.count(), 0);
  EXPECT_THAT(outcome.reason, HasSubstr("its segment of 1.0 h has ended"));
  // One that got nowhere does not repeat without end.
  evidence.no_progress = true;
  EXPECT_EQ(judge(attempt, evidence, {{"stopped_early", 3}}, {}).item, db::ItemState::kFailed);
}

}  // namespace
}  // namespace scheduler
