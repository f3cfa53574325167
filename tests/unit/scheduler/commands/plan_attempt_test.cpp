// The script that `margay render` prints is the one that is then submitted.
#include "scheduler/commands/plan_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "scheduler/commands/render_script.h"
#include "scheduler/files/file_io.h"
#include "tests/unit/scheduler/daemon/known_searches_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Of a daemon on a cluster.
template <class Fixture>
class Rendering : public Fixture {
 protected:
  using Fixture::clock_;
  using Fixture::cluster_;
  using Fixture::config_;
  using Fixture::daemon_;
  using Fixture::database_;

  PlanContext context() {
    return {.config = config_, .database = *database_, .now = clock_.now(), .nodes = [this] {
              ++times_asked_;
              return cluster_.nodes();
            }};
  }
  // As it would be submitted now.
  RenderedScript rendered(int64_t id, std::optional<Shape> shape = Shape::kGpu) {
    return render_item(context(), daemon_->last_plan().get(), id, shape);
  }

  int times_asked_ = 0;
};

class PlanAttemptTest : public Rendering<SlurmFixture> {};

// Searches of known times, of which widths and time limits come.
class RenderedPlanTest : public Rendering<KnownSearchesFixture> {
 protected:
  RenderedPlanTest() {
    measured(5);
    restart();
  }
};

TEST_F(RenderedPlanTest, WhatWaitsHasTheWidthAndTheTimesThatThePlanExpectsForIt) {
  config_.slurm.max_jobs = 1;
  restart();
  const auto first = enqueue_known("a.mrc", db::Priority::kHigh);
  ticks(2);
  const auto id = enqueue_known("b.mrc", db::Priority::kHigh);
  ticks(1);
  EXPECT_THAT(attempts(id), IsEmpty());
  const RenderedScript script = rendered(id, std::nullopt);
  EXPECT_TRUE(script.planned);
  EXPECT_THAT(script.text, AllOf(HasSubstr("--gres=gpu:4\n"), HasSubstr("--time=01:02:00\n")));
  finish(attempt(first));
  cluster_.end(attempt(first).token, slurm::JobState::kCompleted, 0);
  ticks(3);
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(script.text, attempt(id).script);
}

TEST_F(RenderedPlanTest, AnotherShapeHasTheTimesOfItsWidth) {
  const auto id = enqueue_known("a.mrc", db::Priority::kUrgent);
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--time=01:15:00\n"));
  EXPECT_THAT(rendered(id, Shape::kGpu).text,
              AllOf(HasSubstr("--gres=gpu:1\n"), HasSubstr("--time=18:30:00\n")));
}

TEST_F(RenderedPlanTest, WithoutAPlanItHasTheWidthOfItsClass) {
  const auto id = enqueue_known("a.mrc", db::Priority::kUrgent);
  const RenderedScript script = render_item(context(), nullptr, id, std::nullopt);
  EXPECT_THAT(script.text, AllOf(HasSubstr("--gres=gpu:1\n"), Not(HasSubstr("--time="))));
}

TEST_F(PlanAttemptTest, WhatIsRenderedIsSubmittedWithAllThatEarlierAttemptsTaught) {
  config_.slurm.options = {{"time", "02:00:00"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const std::string checkpoint = attempt(id).directory + "/checkpoint.mgc";
  std::ofstream(checkpoint) << "units";
  cluster_.end(attempt(id).token, slurm::JobState::kTimeout, std::nullopt);
  ticks(2);
  fail(attempt(id), 71);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(3));
  job_of(id).host = "node7";
  fail(attempt(id), 70);
  free_bytes_ = 2'000'000;  // a disk so full that nothing is submitted
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(3));

  const RenderedScript script = rendered(id);
  EXPECT_FALSE(script.submitted);
  free_bytes_ = int64_t{1} << 40;
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(4));
  EXPECT_EQ(script.text, attempt(id).script);
  EXPECT_EQ(script.token, attempt(id).token);
  EXPECT_EQ(attempt(id).resume_from, checkpoint) << "of an attempt that is not the newest";
  EXPECT_THAT(script.text, AllOf(HasSubstr("--time=03:00:00"), HasSubstr("--exclude=node7"),
                                 HasSubstr(" --resume " + checkpoint + " --batch 4 ")));
}

TEST_F(PlanAttemptTest, WhatWasBeforeARetryIsForgottenInBoth) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 64);
  ticks(1);
  retry(id);
  const RenderedScript script = rendered(id);
  EXPECT_THAT(script.text, Not(HasSubstr("a1/checkpoint.mgc")));
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(script.text, attempt(id).script);
}

TEST_F(PlanAttemptTest, AJobThatWasCancelledAfterItsCheckpointResumesFromItByARetry) {
  const auto id = enqueue("a.mrc").id;
  // Its file is older than its job, by the clock of the test.
  db::Item old = item(id);
  std::filesystem::last_write_time(
      old.micrograph_path, std::filesystem::file_time_type::clock::now() - std::chrono::years(20));
  old.micrograph_mtime_ns = file_facts(old.micrograph_path).mtime_ns;
  db::ItemStore(*database_).update(old);
  const auto cancel = [&] {
    std::ofstream(attempt(id).directory + "/job.log") << "stopped";
    cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 85);
    ticks(1);
  };
  const auto cancel_and_retry = [&] {
    cancel();
    retry(id);
    ticks(2);
  };
  ticks(2);
  const std::string checkpoint = attempt(id).directory + "/checkpoint.mgc";
  std::ofstream(checkpoint) << "units";
  cancel();
  EXPECT_THAT(item(id).reason, HasSubstr("`margay retry` resumes from it"));
  retry(id);
  ticks(2);
  EXPECT_EQ(attempt(id).resume_from, checkpoint);
  cancel_and_retry();
  EXPECT_EQ(attempt(id).resume_from, checkpoint) << "stopped before its own first one";
  std::filesystem::last_write_time(old.micrograph_path,
                                   std::filesystem::file_time_type::clock::now());
  cancel_and_retry();
  EXPECT_EQ(attempt(id).resume_from, "") << "of another micrograph";
}

TEST_F(PlanAttemptTest, TheClusterIsAskedForItsNodesOnlyWhenAHostMayBeExcluded) {
  const auto id = enqueue("a.mrc").id;
  rendered(id);
  EXPECT_EQ(times_asked_, 0);
  ticks(2);
  job_of(id).host = "node7";
  fail(attempt(id), 70);
  ticks(1);
  rendered(id);
  EXPECT_EQ(times_asked_, 1);
}

}  // namespace
}  // namespace scheduler
