#include "scheduler/daemon/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <set>
#include <thread>

#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonTest : public DaemonFixture {};

TEST_F(DaemonTest, AnItemRunsAndItsResultIsStored) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kActive);
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(attempt(id).host, "node1");
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
  ASSERT_TRUE(result(id));
  EXPECT_EQ(result(id)->peaks, 6);
  EXPECT_EQ(result(id)->best_z, 9.25);
  EXPECT_EQ(result(id)->seconds, 7.5);
  EXPECT_EQ(result(id)->attempt_id, attempt(id).id);
}

TEST_F(DaemonTest, OneSlotRunsOneJobAfterTheOtherUrgentFirst) {
  const auto low = enqueue("a.mrc", Priority::kLow).id;
  const auto urgent = enqueue("b.mrc", Priority::kUrgent).id;
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_EQ(item(urgent).state, ItemState::kActive);
  EXPECT_EQ(item(low).state, ItemState::kQueued);
  finish(attempt(urgent));
  ticks(1);
  EXPECT_EQ(item(low).state, ItemState::kActive);
}

TEST_F(DaemonTest, JobsOfOthersAreLeftAlone) {
  cluster_.add("somebody-elses-job");
  cluster_.add("margay-otherone-1-a1");
  enqueue("a.mrc");
  ticks(3);
  EXPECT_THAT(cluster_.cancelled, IsEmpty());
  EXPECT_THAT(cluster_.requests, SizeIs(1)) << "they take none of our slots";
}

TEST_F(DaemonTest, AClusterThatCannotBeAskedEndsNothingAndGetsNothing) {
  const auto running = enqueue("a.mrc").id;
  ticks(2);
  config_.local.slots = 2;
  restart();
  const auto waiting = enqueue("b.mrc").id;
  cluster_.complete = false;
  clock_.pass(seconds(10'000));
  ticks(5);
  EXPECT_EQ(attempt(running).state, AttemptState::kRunning);
  EXPECT_EQ(item(waiting).state, ItemState::kQueued);
  EXPECT_EQ(daemon_->status().problem, "the cluster does not answer");
  cluster_.complete = true;
  ticks(1);
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(item(waiting).state, ItemState::kActive);
}

TEST_F(DaemonTest, ACancelledItemEndsWhenItsJobIsGone) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  commands_->cancel(user_, id);
  ticks(1);
  EXPECT_THAT(cluster_.cancelled, Contains(attempt(id).job_id));
  EXPECT_EQ(item(id).state, ItemState::kActive);
  cluster_.end(attempt(id).token, slurm::JobState::kCancelled, 85);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
  EXPECT_EQ(attempt(id).state, AttemptState::kCancelled);
  EXPECT_THAT(attempts(id), SizeIs(1));
}

TEST_F(DaemonTest, ACancelThatMeetsALostSubmissionEndsCancelled) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  commands_->cancel(user_, id);
  ticks(20);
  EXPECT_EQ(item(id).state, ItemState::kCancelled);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(DaemonTest, HeldItemsWaitUntilTheyAreReleased) {
  const auto id = enqueue("a.mrc").id;
  commands_->hold(user_, id);
  ticks(3);
  EXPECT_THAT(cluster_.requests, IsEmpty());
  commands_->release(user_, id);
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(DaemonTest, OnlyWhatTheSiteKeepsRemainsOfTheMaps) {
  const auto kept = [&](ResultsKeep keep, const std::string& name) {
    config_.keep = keep;
    restart();
    const auto id = enqueue(name).id;
    ticks(2);
    finish(attempt(id));
    ticks(2);
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(attempt(id).directory)) {
      if (entry.path().extension() == ".mrc") files.insert(entry.path().filename());
    }
    EXPECT_TRUE(std::filesystem::exists(attempt(id).directory + "/peaks.csv"));
    return files;
  };
  EXPECT_THAT(kept(ResultsKeep::kAll, "a.mrc"), SizeIs(8));
  EXPECT_THAT(kept(ResultsKeep::kScores, "b.mrc"), ElementsAre("mip.mrc", "scaled_mip.mrc"));
  EXPECT_THAT(kept(ResultsKeep::kPeaks, "c.mrc"), IsEmpty());
}

TEST_F(DaemonTest, TheClusterForgetsAJobOnlyWhenItsOutcomeIsStored) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const std::string job = attempt(id).job_id;
  finish(attempt(id));
  restart_with_crash_at("before-outcome-commit");
  EXPECT_FALSE(tick());
  EXPECT_THAT(cluster_.forgotten, IsEmpty());
  restart();
  ticks(1);
  EXPECT_THAT(cluster_.forgotten, ElementsAre(job));
}

TEST_F(DaemonTest, RetryExemptsEarlierFailuresAndStartsFromTheBeginning) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  fail(attempt(id), 64, "margay-engine: bad\n");
  ticks(1);
  ASSERT_EQ(item(id).state, ItemState::kQuarantined);
  retry(id);
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).resume_from, "");
}

// Answers only when it is let go.
class HangingCluster : public tests::FakeCluster {
 public:
  slurm::Snapshot states() override {
    asked_.count_down();
    let_go_.wait();
    return FakeCluster::states();
  }
  void wait_until_asked() { asked_.wait(); }
  void let_go() { let_go_.count_down(); }

 private:
  std::latch asked_{1};
  std::latch let_go_{1};
};

TEST_F(DaemonTest, UsersAreAnsweredWhileTheClusterHangs) {
  HangingCluster hanging;
  Daemon daemon(config_, *database_, hanging, clock_);
  std::thread tick([&] { daemon.tick(); });
  hanging.wait_until_asked();
  // Each would wait for ever if the tick held the database.
  const auto id = enqueue("a.mrc").id;
  EXPECT_EQ(db::ItemStore(*database_).list({}).size(), 1u);
  EXPECT_EQ(commands_->show(id).item.state, ItemState::kQueued);
  EXPECT_EQ(daemon.status().items.at(ItemState::kQueued), 1);
  hanging.let_go();
  tick.join();
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonTest, TheStatusShowsTheProcessAndTheAgeOfItsData) {
  enqueue("a.mrc");
  enqueue("b.mrc");
  ticks(2);
  cluster_.complete = false;
  ticks(3);
  const DaemonStatus status = daemon_->status();
  EXPECT_EQ(status.instance, database_->instance());
  EXPECT_EQ(status.device_slots, 1);
  EXPECT_EQ(status.busy_slots, 1);
  EXPECT_EQ(status.ticks, 5);
  EXPECT_EQ(status.now - status.last_snapshot, 3);
  EXPECT_EQ(status.items.at(ItemState::kActive), 1);
  EXPECT_EQ(status.items.at(ItemState::kQueued), 1);
}

}  // namespace
}  // namespace scheduler
