// Searches whose jobs run but make no progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class StallTest : public DaemonFixture {
 protected:
  int64_t running_item() {
    const int64_t id = enqueue("a.mrc").id;
    ticks(2);
    EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
    return id;
  }
  void report(int64_t id, int done) {
    std::ofstream(attempt(id).directory + "/progress.json")
        << R"({"done": )" << done << R"(, "total": 900, "state": "running"})";
  }
  void pass(std::chrono::seconds time) {
    for (seconds passed{0}; passed < time; passed += minutes(1)) {
      clock_.pass(minutes(1));
      ticks(1);
    }
  }
};

TEST_F(StallTest, AJobThatMakesNoProgressIsEndedAndItsItemRetried) {
  const auto id = running_item();
  for (int done = 0; done < 30; ++done) {
    report(id, done);
    clock_.pass(seconds(40));
    ticks(1);
  }
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  pass(minutes(11));
  ASSERT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_THAT(attempt(id).message, HasSubstr("no progress for"));
  restart();
  cluster_.cancelled.clear();
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
  cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 143);
  ticks(1);
  const db::Attempt first = attempts(id)[0];
  EXPECT_EQ(first.state, AttemptState::kFailed);
  EXPECT_EQ(first.cause, "stalled");
  EXPECT_THAT(first.message, HasSubstr("many times as long as its longest batch (41 s)"));
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(StallTest, AStalledSearchThatStopsWithACheckpointCountsAsStalled) {
  const auto id = running_item();
  report(id, 7);
  pass(minutes(12));
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 85);
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].cause, "stalled");
  EXPECT_EQ(attempt(id).resume_from, attempts(id)[0].directory + "/checkpoint.mgc");
}

TEST_F(StallTest, AResultThatCameAllTheSameIsAccepted) {
  const auto id = running_item();
  report(id, 7);
  pass(minutes(12));
  ASSERT_THAT(cluster_.cancelled, SizeIs(testing::Ge(1)));
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(StallTest, ASuspendedJobDoesNotStall) {
  const auto id = running_item();
  report(id, 7);
  cluster_.job(attempt(id).token).words = "SUSPENDED";
  pass(minutes(60));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
}

TEST_F(StallTest, ASearchThatIsCancelledWhileItStallsIsCancelled) {
  const auto id = running_item();
  report(id, 7);
  pass(minutes(12));
  commands_->cancel(user_, id);
  cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 143);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
}

TEST_F(StallTest, WhileTheJobsFolderCannotBeSeenNothingStallsAndAfterwardsTheWatchBeginsAnew) {
  config_.local.slots = 2;
  restart();
  const auto searching = enqueue("a.mrc").id;
  const auto starting = enqueue("b.mrc").id;
  ticks(2);
  ASSERT_EQ(attempt(starting).state, AttemptState::kRunning);
  report(searching, 7);
  pass(minutes(5));
  const std::string away = folder_.file("away");
  std::filesystem::rename(config_.jobs(), away);
  pass(minutes(60));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  std::filesystem::rename(away, config_.jobs());
  pass(minutes(9));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  pass(minutes(3));
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(searching).job_id));
  EXPECT_THAT(cluster_.cancelled, Not(Contains(attempt(starting).job_id)));
  pass(minutes(10));
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(starting).job_id));
}

TEST_F(StallTest, AReportThatWasSeenAndIsGoneIsNoStall) {
  const auto id = running_item();
  report(id, 7);
  pass(minutes(5));
  std::filesystem::remove(attempt(id).directory + "/progress.json");
  pass(minutes(60));
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
}

TEST_F(StallTest, AClockThatIsSetNeitherMakesAStallNorDelaysOne) {
  const auto id = running_item();
  report(id, 7);
  ticks(1);
  for (int i = 0; i < 60; ++i) {
    clock_.set_by(minutes(1));
    ticks(1);
  }
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  for (int i = 0; i < 12; ++i) {
    clock_.set_by(minutes(-1));
    pass(minutes(1));
  }
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
}

TEST_F(StallTest, AnItemThatStallsAgainAndAgainFails) {
  const auto id = running_item();
  for (int times = 1; times <= 4; ++times) {
    clock_.pass(std::chrono::hours(2));
    ticks(2);
    ASSERT_THAT(attempts(id), SizeIs(times));
    report(id, 7);
    pass(minutes(12));
    cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 143);
    ticks(1);
  }
  EXPECT_EQ(item(id).state, ItemState::kFailed);
  EXPECT_THAT(item(id).reason, HasSubstr("its search stalled: no progress for"));
}

}  // namespace
}  // namespace scheduler
