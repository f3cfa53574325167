// A bulk search in segments: its job's time, its end, and what follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "scheduler/commands/plan_attempt.h"
#include "tests/unit/scheduler/daemon/known_searches_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class DaemonSegmentsTest : public KnownSearchesFixture {
 protected:
  int64_t enqueue_and_run(Priority priority = Priority::kLow) {
    const auto id = enqueue_known("a.mrc", priority);
    ticks(2);
    return id;
  }
  // Its job stops with a checkpoint that has this percentage of the search.
  void stop_at(int64_t id, int percent) {
    const std::string folder = attempt(id).directory;
    std::ofstream(folder + "/checkpoint.mgc") << "units";
    std::ofstream(folder + "/progress.json")
        << "{\"done\": " << percent << ", \"total\": 100, \"state\": \"running\"}";
    fail(attempt(id), 85);
  }
};

TEST_F(DaemonSegmentsTest, ItsJobAsksForTheTimeOfASegmentAndOfTheWarningBeforeItsEnd) {
  const auto low = enqueue_and_run();
  EXPECT_EQ(attempt(low).segment, 3600);
  EXPECT_THAT(attempt(low).script, AllOf(HasSubstr("#SBATCH --time=01:02:00\n"),
                                         HasSubstr("#SBATCH --signal=USR1@120\n")));
  EXPECT_THAT(attempt(low).explanation,
              HasSubstr("it runs for 1.0 h and then has its turn again, so that GPUs come free"));
  const auto urgent = enqueue_known("b.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_EQ(attempt(urgent).segment, 0);
  EXPECT_THAT(attempt(urgent).script, Not(HasSubstr("--time=")));
}

TEST_F(DaemonSegmentsTest, AShorterTimeOfTheSiteHoldsAndALongerOneDoesNot) {
  config_.slurm.options = {{"time", "00:30:00"}};
  restart();
  EXPECT_EQ(attempt(enqueue_and_run()).segment, 0);
  EXPECT_THAT(cluster_.requests.back().script, HasSubstr("#SBATCH --time=00:30:00\n"));
  config_.slurm.options = {{"time", "2-00:00:00"}};
  restart();
  const auto id = enqueue_known("b.mrc", Priority::kLow);
  ticks(1);
  EXPECT_EQ(attempt(id).segment, 3600);
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=01:02:00\n"));
}

TEST_F(DaemonSegmentsTest, WithoutSegmentsAndForItemsWithATimeOfTheirOwnJobsRunWhole) {
  const auto own = enqueue_known("b.mrc", Priority::kLow);
  give_options(own, {{"time", "3-00:00:00"}});
  ticks(1);
  EXPECT_EQ(attempt(own).segment, 0);
  EXPECT_THAT(attempt(own).script, HasSubstr("#SBATCH --time=3-00:00:00\n"));
  config_.policy.segment = std::chrono::milliseconds(0);
  restart();
  EXPECT_EQ(attempt(enqueue_and_run()).segment, 0);
}

TEST_F(DaemonSegmentsTest, AfterASegmentItResumesAndIsExpectedToTakeWhatIsLeft) {
  const auto id = enqueue_and_run();
  stop_at(id, 75);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  const db::Attempt first = attempts(id).front();
  EXPECT_EQ(first.state, AttemptState::kCheckpointed);
  EXPECT_EQ(first.cause, "segment");
  EXPECT_TRUE(first.got_further);
  EXPECT_DOUBLE_EQ(item(id).searched, 0.75);
  EXPECT_EQ(attempt(id).resume_from, first.directory + "/checkpoint.mgc");
  EXPECT_THAT(attempt(id).explanation, HasSubstr("4.0 GPU hours of 16.0 left"));
  finish(attempt(id));
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

// Of three segments each ends by a failing device; the device's three retries are never spent.
TEST_F(DaemonSegmentsTest, FailuresDoNotAddUpOverALongSearch) {
  const auto id = enqueue_and_run();
  for (int percent = 10; percent <= 60; percent += 10) {
    stop_at(id, percent);
    ticks(2);
    fail(attempt(id), 70);
    ticks(2);
    ASSERT_EQ(item(id).state, ItemState::kActive) << item(id).reason;
  }
}

TEST_F(DaemonSegmentsTest, FailuresWithoutAnyProgressDoAddUp) {
  const auto id = enqueue_and_run();
  for (int i = 0; i < 20 && item(id).state != ItemState::kFailed; ++i) {
    if (item(id).state == ItemState::kActive) fail(attempt(id), 85);
    clock_.pass(std::chrono::hours(1));
    ticks(2);
  }
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(item(id).reason, HasSubstr("the time limit is too short for any progress"));
  EXPECT_EQ(attempts(id)[1].segment, 5400) << "after one that got nowhere the next is longer";
}

TEST_F(DaemonSegmentsTest, ASearchThatBeginsAnewHasAllOfItLeft) {
  const auto id = enqueue_and_run();
  stop_at(id, 75);
  ticks(2);
  std::filesystem::remove(attempts(id).front().directory + "/checkpoint.mgc");
  fail(attempt(id), 70);
  ticks(2);
  EXPECT_EQ(attempt(id).resume_from, "");
  EXPECT_EQ(item(id).searched, 0);
}

TEST(FailuresInRow, BeginAnewWithEachAttemptThatGotFurther) {
  const auto failed = [](const char* cause, bool further) {
    return db::Attempt{.state = AttemptState::kFailed, .cause = cause, .got_further = further};
  };
  const std::vector<db::Attempt> attempts = {failed("hardware", false), failed("hardware", true),
                                             failed("hardware", false)};
  EXPECT_EQ(failures_in_row(attempts, 0), (Failures{{"hardware", 2}}));
  EXPECT_EQ(failures_of(attempts, 0), (Failures{{"hardware", 3}}));
  EXPECT_EQ(failures_in_row({}, 0), Failures{});
}

}  // namespace
}  // namespace scheduler
