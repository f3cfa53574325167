// Refusals that concern one item, one lane, or the moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/pauses.h"
#include "scheduler/commands/read_snapshot.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using db::Priority;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

constexpr const char* kLimit = "Job violates accounting/QOS policy (job submit limit)";

class DaemonLanesTest : public SlurmFixture {
 protected:
  // The next submissions are refused.
  void refuse(slurm::Refusal refusal, const std::string& message, size_t count = 1) {
    cluster_.refusal = refusal;
    cluster_.refusal_message = message;
    cluster_.faults.assign(count, Fault::kReject);
  }
  size_t folders_of(int64_t id) const {
    size_t count = 0;
    const std::string folder = config_.jobs() + "/" + std::to_string(id);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.is_directory() ? 1 : 0;
    }
    return count;
  }
};

TEST_F(DaemonLanesTest, ALimitOfTheQosThatAnItemAsksForHoldsOnlyThatQos) {
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  for (const auto id : {first, second}) give_options(id, {{"qos", "short"}});
  ticks(1);
  ASSERT_TRUE(item(second).state == ItemState::kActive);
  const auto third = enqueue("c.mrc").id;
  give_options(third, {{"qos", "short"}});
  const auto plain = enqueue("d.mrc").id;
  refuse(slurm::Refusal::kBusy, kLimit);
  ticks(2);
  EXPECT_EQ(item(plain).state, ItemState::kActive);
  EXPECT_EQ(item(third).state, ItemState::kQueued);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_THAT(explained(third), AllOf(HasSubstr("qos=short"), HasSubstr("job submit limit")));
  EXPECT_THAT(cluster_.requests, SizeIs(4));
  ticks(50);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "it is not tried again at each tick";
  finish(attempt(first));
  ticks(1);
  EXPECT_EQ(item(third).state, ItemState::kActive) << "a job has ended";
}

TEST_F(DaemonLanesTest, AnUnknownLicenseIsTheFaultOfTheItemThatAsksForIt) {
  const auto own = enqueue("a.mrc").id;
  give_options(own, {{"licenses", "nosuch:1"}});
  const auto plain = enqueue("b.mrc").id;
  refuse(slurm::Refusal::kConfiguration, "Invalid license specification");
  ticks(2);
  EXPECT_EQ(item(own).state, ItemState::kFailed);
  EXPECT_EQ(attempt(own).cause, "options");
  EXPECT_THAT(item(own).reason,
              AllOf(HasSubstr("Invalid license specification"), HasSubstr("other options")));
  EXPECT_EQ(item(plain).state, ItemState::kActive);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonLanesTest, ItemsOfOneRefusedLaneAreNotTriedOneByOne) {
  for (const auto id : enqueue_many(6)) give_options(id, {{"account", "lab"}});
  refuse(slurm::Refusal::kBusy, kLimit, 100);
  ticks(50);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
}

TEST_F(DaemonLanesTest, TheSitesOwnQosIsThePlainLaneEvenIfAnItemNamesIt) {
  config_.slurm.options = {{"qos", "normal"}};
  restart();
  const auto named = enqueue("a.mrc").id;
  give_options(named, {{"qos", "normal"}});
  enqueue("b.mrc");
  refuse(slurm::Refusal::kBusy, kLimit);
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("job submit limit"));
}

TEST_F(DaemonLanesTest, ALimitOnTheSizeOfAJobConcernsTheItemThatAskedForTheSize) {
  const auto large = enqueue("a.mrc").id;
  give_options(large, {{"time", "10-00:00:00"}});
  const auto plain = enqueue("b.mrc").id;
  refuse(slurm::Refusal::kBusy, kLimit);
  ticks(2);
  EXPECT_EQ(item(plain).state, ItemState::kActive);
  EXPECT_EQ(item(large).state, ItemState::kQueued);
  EXPECT_THAT(explained(large),
              AllOf(HasSubstr("time=10-00:00:00"), HasSubstr("job submit limit")));
}

TEST_F(DaemonLanesTest, ItemsOfARefusedSizeAreTriedOneAtATimeAndWhenAJobOfThatSizeEnds) {
  const auto ids = enqueue_many(7);
  for (size_t i = 0; i < 6; ++i) give_options(ids[i], {{"mem", "600G"}});
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = kLimit;
  cluster_.faults.assign(100, Fault::kReject);
  cluster_.faults[0] = cluster_.faults[1] = Fault::kAccept;
  cluster_.faults[3] = Fault::kAccept;  // the plain one
  ticks(3);
  ASSERT_TRUE(item(ids[0]).state == ItemState::kActive && item(ids[1]).state == ItemState::kActive);
  EXPECT_EQ(item(ids[6]).state, ItemState::kActive);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "one attempt for all items of that size";
  ticks(50);
  EXPECT_THAT(cluster_.requests, SizeIs(4));
  finish(attempt(ids[6]));
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(4)) << "a job of another size makes no room";
  finish(attempt(ids[0]));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(5));
  cluster_.faults.clear();
  finish(attempt(ids[1]));
  ticks(1);
  EXPECT_EQ(item(ids[2]).state, ItemState::kActive) << "without any wait";
}

TEST_F(DaemonLanesTest, ASizeThatOneQosRefusesStartsInAnotherThatAllowsIt) {
  const auto refused = enqueue("a.mrc").id;
  give_options(refused, {{"time", "10-00:00:00"}});
  const auto allowed = enqueue("b.mrc").id;
  give_options(allowed, {{"time", "10-00:00:00"}, {"qos", "long"}});
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = kLimit;
  cluster_.refuses = [](const slurm::JobRequest& request) {
    return request.script.find("--qos=long") == std::string::npos;
  };
  for (int i = 0; i < 5; ++i) {
    ticks(2);
    clock_.pass(seconds(10'000));
  }
  EXPECT_EQ(item(refused).state, ItemState::kQueued);
  EXPECT_EQ(item(allowed).state, ItemState::kActive);
}

TEST_F(DaemonLanesTest, AJobThatIsTooLargeForItsQosDoesNotHoldTheOthersOfThatQos) {
  const auto large = enqueue("a.mrc").id;
  give_options(large, {{"time", "30-00:00:00"}, {"qos", "long"}});
  const auto usual = enqueue("b.mrc").id;
  give_options(usual, {{"qos", "long"}});
  cluster_.refusal = slurm::Refusal::kBusy;
  cluster_.refusal_message = kLimit;
  cluster_.refuses = [](const slurm::JobRequest& request) {
    return request.script.find("--time=30-00:00:00") != std::string::npos;
  };
  for (int i = 0; i < 5; ++i) {
    clock_.pass(seconds(10'000));
    ticks(2);
  }
  EXPECT_EQ(item(usual).state, ItemState::kActive);
  EXPECT_EQ(item(large).state, ItemState::kQueued);
  EXPECT_EQ(daemon_->status().held_lanes.count("qos=long with time=30-00:00:00"), 1U);
  EXPECT_THAT(explained(large), HasSubstr("no job of qos=long with time=30-00:00:00 now"));
  cluster_.refuses = {};
  finish(attempt(usual));
  ticks(2);
  EXPECT_EQ(item(large).state, ItemState::kQueued) << "a job of another size makes no room";
  clock_.pass(seconds(10'000));
  ticks(2);
  EXPECT_EQ(item(large).state, ItemState::kActive);
  EXPECT_TRUE(daemon_->status().held_lanes.empty());
}

TEST_F(DaemonLanesTest, AnUrgentItemThatSlurmRefusesDoesNotStopTheOthers) {
  config_.slurm.urgent_shape = Shape::kNodes;
  restart();
  for (const auto& [refusal, message] : std::vector<std::pair<slurm::Refusal, std::string>>{
           {slurm::Refusal::kJob, "Node count specification invalid"},
           {slurm::Refusal::kConfiguration, "Invalid partition name specified"},
           {slurm::Refusal::kBusy, kLimit}}) {
    const auto urgent = enqueue(message.substr(0, 5) + "1.mrc", Priority::kUrgent).id;
    const auto low = enqueue(message.substr(0, 5) + "2.mrc", Priority::kLow).id;
    refuse(refusal, message);
    ticks(2);
    EXPECT_EQ(item(urgent).state, ItemState::kQueued) << message;
    EXPECT_EQ(item(low).state, ItemState::kActive) << message;
    EXPECT_EQ(daemon_->status().pause_reason, "");
    EXPECT_THAT(explained(urgent), AllOf(HasSubstr("shape nodes"), HasSubstr(message)));
    EXPECT_EQ(count_logged("shape nodes"), 1) << "the log names it once";
    clock_.pass(seconds(10'000));
    ticks(2);
    EXPECT_EQ(item(urgent).state, ItemState::kActive);
    log_.clear();
  }
}

TEST_F(DaemonLanesTest, AClassThatSlurmRefusesDoesNotStopTheOthers) {
  config_.policy.classes[Priority::kHigh].options = {{"qos", "fast"}};
  config_.policy.classes[Priority::kNormal].options = {{"nice", "50"}};
  restart();
  refuse(slurm::Refusal::kConfiguration, "Invalid qos specification", 2);
  const auto high = enqueue("a.mrc", Priority::kHigh).id;
  const auto normal = enqueue("b.mrc", Priority::kNormal).id;
  const auto low = enqueue("c.mrc", Priority::kLow).id;
  ticks(2);
  EXPECT_EQ(item(high).state, ItemState::kQueued);
  EXPECT_EQ(item(normal).state, ItemState::kQueued);
  EXPECT_EQ(item(low).state, ItemState::kActive);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_THAT(explained(high), AllOf(HasSubstr("qos=fast"), HasSubstr("Invalid qos")));
  EXPECT_THAT(explained(normal), HasSubstr("(class normal)"));
  clock_.pass(seconds(10'000));
  ticks(2);
  EXPECT_THAT(attempt(high).script, HasSubstr("--qos=fast\n"));
  EXPECT_THAT(attempt(normal).script, HasSubstr("--nice=50\n"));
  EXPECT_EQ(item(normal).state, ItemState::kActive);
}

TEST_F(DaemonLanesTest, ABusyPeriodLeavesOneAttemptAndOneFolder) {
  refuse(slurm::Refusal::kBusy, "Unable to create job record, try again", 1000);
  const auto id = enqueue("a.mrc").id;
  for (int i = 0; i < 30; ++i) {
    clock_.pass(seconds(61));
    ticks(2);
  }
  EXPECT_THAT(cluster_.requests, SizeIs(30));
  EXPECT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(folders_of(id), 1U);
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  cluster_.faults.clear();
  clock_.pass(seconds(61));
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(cluster_.jobs.size(), 1U);
}

TEST_F(DaemonLanesTest, AfterABusyAnswerTheNextJobIsTriedAsSoonAsOneEnds) {
  const auto first = enqueue("a.mrc").id;
  ticks(2);
  const auto second = enqueue("b.mrc").id;
  refuse(slurm::Refusal::kBusy, kLimit);
  ticks(10);
  ASSERT_THAT(cluster_.requests, SizeIs(2));
  finish(attempt(first));
  ticks(1);
  EXPECT_EQ(item(second).state, ItemState::kActive);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonLanesTest, MoreMemoryThatALimitMayHaveRefusedForTheNumberOfJobsIsAskedForAgain) {
  config_.slurm.options = {{"mem", "32G"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  const auto run_out_of_memory = [&] {
    cluster_.end(attempt(id).token, slurm::JobState::kOutOfMemory, std::nullopt);
  };
  ticks(2);
  run_out_of_memory();
  refuse(slurm::Refusal::kBusy, kLimit);
  ticks(1);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=48G"));
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=32G"));
  ASSERT_EQ(attempt(id).state, AttemptState::kRunning);
  run_out_of_memory();
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=72G"));
}

TEST_F(DaemonLanesTest, ALimitThatRefusesAJobWithAndWithoutMoreMemoryLeavesOneAttempt) {
  config_.slurm.options = {{"mem", "32G"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  cluster_.end(attempt(id).token, slurm::JobState::kOutOfMemory, std::nullopt);
  refuse(slurm::Refusal::kBusy, kLimit, 6);
  for (int i = 0; i < 6; ++i) {
    clock_.pass(seconds(61));
    ticks(3);
  }
  EXPECT_THAT(attempts(id), SizeIs(3)) << "that ran, that was refused, that runs";
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_THAT(attempt(id).script, HasSubstr("--mem=48G"));
}

TEST_F(DaemonLanesTest, ALaneThatIsPausedByHandWaitsAndTheOthersRun) {
  config_.slurm.options = {{"partition", "gpu"}};
  restart();
  const auto running = enqueue("a.mrc").id;
  ticks(2);
  db::PauseStore(*database_)
      .set_lane({.place = {{"partition", "gpu"}}, .who = "root", .reason = "new driver"});
  const auto plain = enqueue("b.mrc").id;
  const auto own = enqueue("c.mrc").id;
  give_options(own, {{"qos", "short"}});
  const auto elsewhere = enqueue("d.mrc").id;
  give_options(elsewhere, {{"partition", "cpu"}});
  const std::string why =
      "partition=gpu is paused by root: new driver; `margay resume --partition gpu` ends the pause";
  EXPECT_EQ(daemon_->status().held_lanes.at("partition=gpu"), why) << "at once";
  restart();
  ticks(3);
  EXPECT_EQ(item(running).state, ItemState::kActive);
  EXPECT_EQ(item(elsewhere).state, ItemState::kActive);
  for (const auto id : {plain, own}) {
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_EQ(explained(id), "waits: " + why);
  }
  EXPECT_EQ(daemon_->status().pause_reason, "");
  db::PauseStore(*database_).clear_lane({{"partition", "gpu"}});
  ticks(2);
  for (const auto id : {plain, own}) EXPECT_EQ(item(id).state, ItemState::kActive);
  EXPECT_TRUE(daemon_->status().held_lanes.empty());
}

TEST_F(DaemonLanesTest, AnUrgentItemKeepsItsJobWhileItsWiderLaneIsPaused) {
  config_.slurm.urgent_shape = Shape::kNodes;
  config_.slurm.options = {{"partition", "gpu"}};
  restart();
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  db::PauseStore(*database_).set_lane({.place = {{"partition", "gpu"}}, .who = "root"});
  db::Item urgent = item(id);
  urgent.priority = Priority::kUrgent;
  db::ItemStore(*database_).update(urgent);
  ticks(3);
  EXPECT_TRUE(cluster_.signalled.empty());
  EXPECT_THAT(explained(id), AllOf(HasSubstr("resumes as soon as"), HasSubstr("paused by root")));
}

TEST_F(DaemonLanesTest, AFullDiskIsNotEmptiedByAJobThatEnds) {
  const auto ids = enqueue_many(2);
  ticks(2);
  fail(attempt(ids[0]), 1, "margay-engine: map.mrc: No space left on device\n");
  ticks(1);
  const size_t before = cluster_.requests.size();
  enqueue("later.mrc");
  finish(attempt(ids[1]));
  ticks(2);
  EXPECT_EQ(cluster_.requests.size(), before);
}

}  // namespace
}  // namespace scheduler
