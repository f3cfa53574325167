// The wall clock is set while something is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/sqlite.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::hours;
using std::chrono::minutes;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class SetClockTest : public SlurmFixture, public testing::WithParamInterface<hours> {
 protected:
  void SetUp() override {
    config_.intervals.retry = minutes(10);
    restart();
  }
  // Its job was preempted twice, so that the next one waits for ten minutes.
  int64_t waiting(const std::string& name = "a.mrc") {
    const auto id = enqueue(name).id;
    for (int i = 0; i < 2; ++i) {
      ticks(1);
      cluster_.end(attempt(id).token, slurm::JobState::kPreempted, std::nullopt);
    }
    ticks(1);
    EXPECT_GT(item(id).not_before, clock_.now());
    return id;
  }
  bool runs(int64_t id) { return item(id).state == ItemState::kActive; }
};

TEST_P(SetClockTest, AnItemWaitsForItsRetryAsLongAsItWouldHave) {
  const auto id = waiting();
  clock_.set_by(GetParam());
  ticks(2);
  EXPECT_FALSE(runs(id)) << "not at once";
  clock_.pass(minutes(10));
  ticks(2);
  EXPECT_TRUE(runs(id)) << "not for the jump either";
  EXPECT_EQ(count_logged("clock of this machine was set"), 1);
}

TEST_P(SetClockTest, AHeldLaneAndAPauseLastAsLongAsTheyWouldHave) {
  const auto own = enqueue("a.mrc").id;
  give_options(own, {{"qos", "short"}});
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = "Job violates accounting/QOS policy (job submit limit)";
  cluster_.faults = {Fault::kReject, Fault::kReject};
  ticks(1);
  const auto plain = enqueue("b.mrc").id;
  ticks(1);
  ASSERT_THAT(cluster_.requests, SizeIs(2));
  clock_.set_by(GetParam());
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  clock_.pass(minutes(10));
  ticks(2);
  EXPECT_TRUE(runs(own));
  EXPECT_TRUE(runs(plain));
}

TEST_P(SetClockTest, AVanishedJobIsLostAfterItsTimeWhateverTheClockIsSetTo) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const auto lost = attempt(id);
  cluster_.jobs.clear();
  ticks(1);
  clock_.set_by(GetParam());
  ticks(2);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  clock_.pass(config_.intervals.vanish_running);
  ticks(2);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kLost);
}

TEST_P(SetClockTest, ASubmissionWithoutAnAnswerIsLookedUpAfterItsGrace) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  ticks(1);
  clock_.set_by(GetParam());
  ticks(1);
  EXPECT_EQ(cluster_.looks_by_name, 0);
  clock_.pass(config_.resolve_grace());
  ticks(3);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
}

INSTANTIATE_TEST_SUITE_P(BackAndForward, SetClockTest, testing::Values(hours(-30), hours(30)));

using StoppedClockTest = SetClockTest;

TEST_F(StoppedClockTest, AClockSetBackWhileNoDaemonRanProlongsNoWait) {
  const auto id = waiting();
  clock_.set_by(hours(-30));
  restart();
  ticks(1);
  EXPECT_FALSE(runs(id));
  clock_.pass(minutes(10));
  ticks(2);
  EXPECT_TRUE(runs(id));
}

TEST_F(StoppedClockTest, AClockThatIsSetForwardDuringATickAddsTheJumpToNoWaitOfThatTick) {
  cluster_.while_listing = [this, listings = 0]() mutable {
    if (++listings == 3) clock_.set_by(hours(30));
  };
  const auto id = waiting();
  EXPECT_EQ(item(id).not_before, clock_.now() + 600) << "set while the jobs were listed";
  ticks(2);
  EXPECT_FALSE(runs(id));
  clock_.pass(minutes(10));
  ticks(2);
  EXPECT_TRUE(runs(id));
}

TEST_F(StoppedClockTest, WhileTheDatabaseCannotBeWrittenAClockThatWasSetStaysToBeFollowed) {
  const auto cannot_write = [this](bool cannot) {
    db::Statement(database_->connection(), cannot
                                               ? "CREATE TRIGGER no_write BEFORE UPDATE ON items "
                                                 "BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END"
                                               : "DROP TRIGGER no_write")
        .run();
  };
  for (const bool restarted : {true, false}) {
    const auto id = waiting(restarted ? "a.mrc" : "b.mrc");
    clock_.set_by(hours(-30));
    if (restarted) restart();
    cannot_write(true);
    ticks(1);
    cannot_write(false);
    ticks(1);
    EXPECT_FALSE(runs(id));
    clock_.pass(minutes(10));
    ticks(2);
    ASSERT_TRUE(runs(id)) << restarted;
    finish(attempt(id));
    ticks(1);
  }
}

TEST_F(StoppedClockTest, AClaimThatIsDatedInTheFutureDoesNotKeepAnAttemptForEver) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  const std::string claim = attempt(id).directory + "/claim";
  std::filesystem::create_directory(claim);
  std::filesystem::last_write_time(claim,
                                   std::filesystem::file_time_type::clock::now() + hours(100'000));
  ticks(20);
  ASSERT_EQ(attempt(id).state, AttemptState::kUnknown) << "it may still write";
  clock_.pass(config_.intervals.vanish_running);
  ticks(2);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
}

}  // namespace
}  // namespace scheduler
