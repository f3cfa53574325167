// Devices that fail on every node: a missing driver must not use up the queue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "db/host_failures.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class DaemonHardwareTest : public SlurmFixture {
 protected:
  // Its job began just now and failed its probe on this host.
  void fail_probe(int64_t id, const std::string& host) {
    job_of(id).host = host;
    job_of(id).start_time = clock_.now();
    fail(attempt(id), 70, "margay-engine: no CUDA driver\n");
  }
  // Its job began just now, passed its probe and searches.
  void search(int64_t id) {
    job_of(id).start_time = clock_.now();
    std::ofstream(attempt(id).directory + "/progress.json") << R"({"done": 1})";
  }
  bool runs(int64_t id) { return item(id).state == ItemState::kActive; }
  // Every job that runs fails its probe, each on another host; then a tick.
  void fail_all(const std::vector<int64_t>& ids) {
    for (const auto id : ids) {
      if (runs(id)) fail_probe(id, "n" + std::to_string(++hosts_));
    }
    ticks(1);
  }
  int hosts_ = 0;
};

TEST_F(DaemonHardwareTest, AMissingDriverOnAllNodesPausesSubmissionsAndSpendsNoTries) {
  const auto ids = enqueue_many(11);
  for (int i = 0; i < 40; ++i) {
    ticks(1);
    fail_all(ids);
    clock_.pass(minutes(1));
  }
  for (const auto id : ids) EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(daemon_->status().pause_reason,
              AllOf(HasSubstr("n1, n2"), HasSubstr("no CUDA driver"), HasSubstr("driver")));
  EXPECT_EQ(count_logged("submissions paused"), 2) << "and when there were more than three hosts";
  EXPECT_THAT(item(ids[0]).reason, HasSubstr("does not count"));
}

TEST_F(DaemonHardwareTest, WhileDevicesFailOneJobTriesAtDoublingIntervals) {
  const auto ids = enqueue_many(3);
  ticks(2);
  fail_all(ids);
  std::vector<int64_t> tried_at;
  for (int64_t second = 0; second < 1000; ++second) {
    const size_t before = cluster_.requests.size();
    fail_all(ids);
    if (cluster_.requests.size() > before) tried_at.push_back(second);
  }
  EXPECT_THAT(tried_at, ElementsAre(59, 180, 421, 902)) << "a failure shows a second later";
  EXPECT_THAT(cluster_.requests, SizeIs(3 + tried_at.size())) << "one at a time";
}

TEST_F(DaemonHardwareTest, OneSearchThatPassesItsProbeResumesAll) {
  const auto ids = enqueue_many(5);
  ticks(2);
  fail_all(ids);
  clock_.pass(minutes(2));
  ticks(3);
  ASSERT_THAT(cluster_.requests, SizeIs(6)) << "that it runs proves nothing: it may still probe";
  const auto probe = *std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return runs(id); });
  search(probe);
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  for (const auto id : ids) EXPECT_TRUE(runs(id));
  EXPECT_EQ(count_logged("submissions resumed"), 1);
}

TEST_F(DaemonHardwareTest, AClockThatIsSetBackKeepsNoSearchFromProvingThatDevicesWork) {
  for (const bool restarted : {false, true}) {
    std::vector<int64_t> ids;
    for (const std::string name : {"a.mrc", "b.mrc", "c.mrc"}) {
      ids.push_back(enqueue((restarted ? "restarted-" : "") + name).id);
    }
    ticks(2);
    fail_all(ids);
    ASSERT_THAT(daemon_->status().pause_reason, HasSubstr("driver"));
    clock_.set_by(hours(-30));
    if (restarted) restart();
    ticks(1);
    clock_.pass(minutes(2));
    ticks(2);
    const auto probe = std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return runs(id); });
    ASSERT_TRUE(probe != ids.end());
    search(*probe);
    ticks(2);
    EXPECT_EQ(daemon_->status().pause_reason, "");
    for (const auto id : ids) {
      finish(attempt(id));
      ticks(1);
    }
  }
}

TEST_F(DaemonHardwareTest, AClockThatIsSetBackPutsOffTheEndOfNoExclusion) {
  db::HostFailureStore failures(*database_);
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  const db::Attempt failed = attempt(id);
  failures.insert({.host = "n1",
                   .item_id = id,
                   .attempt_id = failed.id,
                   .cause = "unknown",
                   .time = clock_.now()});
  clock_.set_by(-hours(10'000));
  ticks(1);
  EXPECT_THAT(failures.since(clock_.now() + 1), SizeIs(0));
  clock_.pass(config_.intervals.host_failures + hours(2));
  ticks(1);
  EXPECT_THAT(failures.since(0), SizeIs(0)) << "the old ones are removed hourly";
}

TEST_F(DaemonHardwareTest, AProbeThatCannotStartForItsOwnOptionsLeavesTheProbingToAnother) {
  const auto ids = enqueue_many(3);
  ticks(2);
  fail_all(ids);
  for (const auto id : ids) give_options(id, {{"begin", "now+7days"}});
  clock_.pass(minutes(2));
  cluster_.first_state = slurm::JobState::kPending;
  ticks(1);
  const auto stuck = *std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return runs(id); });
  job_of(stuck).reason = "Priority";
  ticks(3);
  ASSERT_THAT(cluster_.requests, SizeIs(4)) << "it waits for its turn";
  job_of(stuck).reason = "BeginTime";
  cluster_.first_state = slurm::JobState::kRunning;
  const auto plain = enqueue("plain.mrc", db::Priority::kLow).id;
  ticks(2);
  ASSERT_TRUE(runs(plain)) << "before the items with options of their own";
  EXPECT_THAT(attempt(plain).explanation,
              HasSubstr("is tried first, to see whether jobs run again"));
  ticks(3);
  EXPECT_THAT(cluster_.requests, SizeIs(5)) << "one at a time";
  search(plain);
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonHardwareTest, AFaultWhoseNodesWereForgottenEndsWithTheNextSearchThatPassesItsProbe) {
  const auto ids = enqueue_many(5);
  ticks(2);
  fail_all(ids);
  const size_t before = cluster_.requests.size();
  const auto run_probe = [&] {
    clock_.pass(hours(1));
    ticks(2);
    return *std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return runs(id); });
  };
  const auto failing = run_probe();
  db::HostFailureStore(*database_).remove_hosts({"n1", "n2", "n3", "n4", "n5"});
  fail_probe(failing, "n9");
  ticks(3);
  EXPECT_EQ(cluster_.requests.size(), before + 1) << "the next one waits";
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("n9"));
  db::HostFailureStore(*database_).remove_hosts({"n9"});
  const auto working = run_probe();
  fail(attempt(working), 70);  // on no host that is known
  job_of(working).host.clear();
  ticks(1);
  search(run_probe());
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  for (const auto id : ids) EXPECT_TRUE(runs(id));
}

TEST_F(DaemonHardwareTest, FailuresBetweenWhichASearchPassedItsProbeAreNoRow) {
  const auto ids = enqueue_many(4);
  ticks(2);
  fail_probe(ids[0], "n1");
  fail_probe(ids[1], "n2");
  ticks(1);
  clock_.pass(seconds(10));
  search(ids[2]);
  ticks(1);
  clock_.pass(seconds(10));
  fail_probe(ids[3], "n3");
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(db::AttemptStore(*database_).of_item(ids[3])[0].exempt, false);
}

TEST_F(DaemonHardwareTest, SearchesThatBeganTogetherAndPassedTheirProbesShowThatTheSiteIsWell) {
  const auto ids = enqueue_many(6);
  ticks(2);
  for (size_t i = 0; i < 3; ++i) fail_probe(ids[i], "n" + std::to_string(i));
  for (size_t i = 3; i < 6; ++i) search(ids[i]);
  ticks(2);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonHardwareTest, ASearchThatFailsOnItsDeviceAfterItsProbeIsNoPartOfARow) {
  const auto ids = enqueue_many(4);
  ticks(2);
  for (size_t i = 0; i < 4; ++i) {
    search(ids[i]);
    fail_probe(ids[i], "n" + std::to_string(i));
  }
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonHardwareTest, ARowOfFailuresSurvivesARestart) {
  const auto ids = enqueue_many(4);
  ticks(2);
  fail_probe(ids[0], "n1");
  fail_probe(ids[1], "n2");
  ticks(1);
  restart();
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  fail_probe(ids[2], "n3");
  ticks(1);
  ASSERT_THAT(daemon_->status().pause_reason, HasSubstr("n1, n2, n3"));
  restart();
  const size_t before = cluster_.requests.size();
  ticks(20);
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("n1, n2, n3"));
  EXPECT_EQ(cluster_.requests.size(), before);
  clock_.pass(config_.intervals.retry);
  ticks(1);
  EXPECT_EQ(cluster_.requests.size(), before + 1) << "one tries";
}

TEST_F(DaemonHardwareTest, WhatDidNotCountDoesNotCountLaterEither) {
  const auto ids = enqueue_many(3);
  for (int i = 0; i < 8; ++i) {
    ticks(1);
    fail_all(ids);
    clock_.pass(hours(30));
  }
  for (const auto id : ids) EXPECT_FALSE(has_ended(item(id).state));
}

TEST_F(DaemonHardwareTest, OnAClusterOfTwoNodesThreeItemsThatFailThereAreARow) {
  cluster_.machines = 2;
  const auto ids = enqueue_many(4);
  ticks(2);
  fail_probe(ids[0], "n1");
  fail_probe(ids[1], "n2");
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  fail_probe(ids[2], "n1");
  ticks(1);
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("n1, n2"));
}

TEST_F(DaemonHardwareTest, OneBadNodeOfManyPausesNothing) {
  const auto ids = enqueue_many(8);
  ticks(2);
  for (size_t i = 0; i < 6; ++i) fail_probe(ids[i], "n1");
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_THAT(attempt(ids[0]).script, HasSubstr("--exclude=n1"));
}

}  // namespace
}  // namespace scheduler
