// From the queue to the cluster: once, and with what the item needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "db/sqlite.h"
#include "db/templates.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Fault = tests::FakeCluster::Fault;

class DaemonSubmitTest : public DaemonFixture {};

// As a database holds them that an older margayd wrote.
TEST_F(DaemonSubmitTest, ATemplateThatContainsItselfQuarantinesItsItemsAndStopsNobodyElse) {
  config_.local.slots = 2;
  restart();
  db::Template cyclic = db::TemplateStore(*database_).list()[0];
  cyclic.name = "cyclic";
  cyclic.search_yaml = "optics_group: {pixel_size: 2.0, voltage: 300.0}\nx: &x [*x]\n";
  db::TemplateStore(*database_).insert(cyclic);
  const auto poison =
      commands_->enqueue(user_, {.micrograph = file_facts(folder_.write("p.mrc", "p")),
                                 .template_name = "cyclic",
                                 .ctf = {.defocus_u = 1, .defocus_v = 1}});
  const auto other = enqueue("a.mrc");
  ticks(2);
  EXPECT_EQ(item(poison.id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(poison.id).reason, HasSubstr("an alias there stands for a value"));
  EXPECT_EQ(item(other.id).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, TheAttemptIsOnTheDiskBeforeItIsSubmitted) {
  const auto id = enqueue("it's a b.mrc").id;
  ticks(1);
  const auto first = attempt(id);
  ASSERT_THAT(cluster_.requests, SizeIs(1));
  const auto& request = cluster_.requests[0];
  EXPECT_EQ(request.name, first.token);
  EXPECT_EQ(request.script, first.script);
  EXPECT_EQ(request.directory, first.directory);
  EXPECT_EQ(tests::text_of(first.directory + "/job.sh"), first.script);
  EXPECT_EQ(first.token, "margay-" + database_->instance() + "-" + std::to_string(id) + "-a1");
  EXPECT_EQ(tests::text_of(config_.jobs() + "/" + std::to_string(id) + "/current"), "1\n");
  EXPECT_THAT(tests::text_of(first.directory + "/config.yaml"), HasSubstr("it's a b.mrc"));
  EXPECT_THAT(first.explanation, HasSubstr("only ready item"));
}

TEST_F(DaemonSubmitTest, WhilePausedNothingStartsAndWhatRunsContinues) {
  const auto running = enqueue("a.mrc").id;
  ticks(1);
  const Caller root{.uid = 0, .name = "root", .privileged = true};
  commands_->pause(root, "new driver");
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("new driver")) << "at once";
  const auto waiting = enqueue("b.mrc").id;
  ticks(3);
  EXPECT_THAT(attempts(waiting), IsEmpty());
  EXPECT_THAT(daemon_->status().pause_reason,
              AllOf(HasSubstr("paused by root: new driver"), HasSubstr("margay resume")));
  EXPECT_THAT(commands_->show(waiting).explanation, HasSubstr("new driver"));
  finish(attempt(running));
  ticks(1);
  EXPECT_EQ(item(running).state, ItemState::kDone);
  restart();
  ticks(2);
  EXPECT_THAT(attempts(waiting), IsEmpty()) << "a pause outlives the daemon";
  EXPECT_TRUE(commands_->resume(root));
  ticks(1);
  EXPECT_THAT(attempts(waiting), SizeIs(1));
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

TEST_F(DaemonSubmitTest, AJobIsSubmittedOnceAlthoughTheAnswerGotLost) {
  cluster_.faults = {Fault::kAcceptAndLoseAnswer};
  const auto id = enqueue("a.mrc").id;
  ticks(20);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
  EXPECT_EQ(attempt(id).job_id, cluster_.jobs[0].job_id);
  finish(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonSubmitTest, ALostRequestIsClosedOnlyAfterTheGraceAndTwoCompleteLooks) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(4);  // the grace is 5 s
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown);
  EXPECT_EQ(cluster_.looks_by_name, 0);
  cluster_.names_can_be_asked = false;
  ticks(10);
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown) << "not asked is not absent";
  cluster_.names_can_be_asked = true;
  ticks(1);
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown) << "one look is not enough";
  ticks(1);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
  EXPECT_NE(attempts(id)[0].token, attempts(id)[1].token);
}

TEST_F(DaemonSubmitTest, AScriptThatHasBegunIsWaitedForAlthoughNobodyKnowsItsJob) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  std::filesystem::create_directory(attempt(id).directory + "/claim");
  ticks(20);
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kUnknown);
  EXPECT_EQ(tests::text_of(folder_.file("state/jobs/" + std::to_string(id) + "/current")), "1\n");
  leave_manifest(attempt(id));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

TEST_F(DaemonSubmitTest, AScriptThatBeganAndWasNotHeardOfForLongIsGivenUp) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  const std::string claim = attempt(id).directory + "/claim";
  std::filesystem::create_directory(claim);
  std::filesystem::last_write_time(
      claim, std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * 365 * 30));
  ticks(20);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kNeverStarted);
}

TEST_F(DaemonSubmitTest, AnAttemptThatIsGivenUpCanNotBeginAnyMore) {
  cluster_.faults = {Fault::kLoseRequest};
  const auto id = enqueue("a.mrc").id;
  tick();
  // Before there is a second one.
  restart_with_crash_at("before-never-started-commit");
  while (tick()) {
  }
  ASSERT_THAT(attempts(id), SizeIs(1));
  EXPECT_EQ(tests::text_of(folder_.file("state/jobs/" + std::to_string(id) + "/current")), "2\n");
}

TEST_F(DaemonSubmitTest, TooLittleDeviceMemoryMeansASmallerBatch) {
  const auto id = enqueue("a.mrc").id;
  std::vector<std::string> batches;
  for (int i = 0; i < 3; ++i) {
    ticks(2);
    const std::string& script = attempt(id).script;
    const size_t at = script.find(" --batch ") + 9;
    batches.push_back(script.substr(at, script.find(' ', at) - at));
    fail(attempt(id), 71);
  }
  ticks(1);
  EXPECT_THAT(batches, ElementsAre("''", "4", "1"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(DaemonSubmitTest, AMicrographThatChangedBeforeItsRunIsQuarantined) {
  const auto id = enqueue("a.mrc").id;
  folder_.write("a.mrc", "something longer than it was");
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(id).reason, HasSubstr("changed since it was registered"));
  EXPECT_THAT(cluster_.requests, IsEmpty());
}

TEST_F(DaemonSubmitTest, AMicrographThatIsMissingIsQuarantinedAndTheOthersRun) {
  const auto gone = enqueue("a.mrc").id;
  const auto there = enqueue("b.mrc").id;
  std::filesystem::remove(folder_.file("a.mrc"));
  ticks(2);
  EXPECT_EQ(item(gone).state, ItemState::kQuarantined);
  EXPECT_THAT(item(gone).reason, HasSubstr("is missing"));
  EXPECT_EQ(item(there).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, AMissingEnginePausesSubmissionsAndFailsNoItem) {
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  ticks(2);
  fail(attempt(first), 127, "/opt/margay-engine: No such file or directory\n");
  ticks(30);
  EXPECT_THAT(cluster_.requests, SizeIs(1)) << "the second must not fail the same way";
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("cannot be launched"));
  EXPECT_EQ(item(first).state, ItemState::kQueued);
  clock_.pass(seconds(60));
  ticks(1);
  EXPECT_THAT(cluster_.requests, SizeIs(2));
  EXPECT_EQ(item(second).state, ItemState::kQueued);
}

TEST_F(DaemonSubmitTest, AFullDiskPausesSubmissionsWithOneSentenceAndLosesNothing) {
  const auto id = enqueue("a.mrc").id;
  free_bytes_ = 5'000'000;
  ticks(3);
  EXPECT_THAT(daemon_->status().pause_reason,
              testing::AllOf(HasSubstr("is full: 5.0 MB free"), HasSubstr("needs 16.8 MB")));
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(attempts(id), IsEmpty());
  free_bytes_ = 50'000'000;
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

// Below the place where a file system is mounted there is an empty folder, or one of others.
TEST_F(DaemonSubmitTest, WhileTheFolderOfJobsIsNotMountedNothingIsWrittenInItsPlace) {
  const std::string jobs = config_.jobs();
  std::filesystem::rename(jobs, jobs + ".away");
  const auto id = enqueue("a.mrc").id;
  for (const bool is_there : {false, true}) {
    if (is_there) std::filesystem::create_directory(jobs);
    ticks(2);
    EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("'" + jobs + "' is away: mount"));
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    EXPECT_THAT(attempts(id), IsEmpty());
  }
  EXPECT_TRUE(std::filesystem::is_empty(jobs));
  std::filesystem::remove(jobs);
  std::filesystem::rename(jobs + ".away", jobs);
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, AMicrographThatNeedsMoreThanTheDiskHasWaitsAlone) {
  // The fewest bytes that so many pixels may have.
  std::string large(1024 + 6000 * 6000 / 2, '\0');
  const std::array<int32_t, 3> sides = {6000, 6000, 1};
  std::memcpy(large.data(), sides.data(), sizeof(sides));
  const auto huge = enqueue("huge.mrc", db::Priority::kNormal, large).id;
  const auto good = enqueue("a.mrc").id;
  free_bytes_ = 2'010'000'000;
  ticks(3);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(good).state, ItemState::kActive);
  EXPECT_EQ(item(huge).state, ItemState::kQueued);
  EXPECT_THAT(item(huge).reason, HasSubstr("its search needs "));
}

TEST_F(DaemonSubmitTest, AScriptTemplateWithAMisspeltNamePausesSubmissionsUntilItIsFixed) {
  const auto id = enqueue("a.mrc").id;
  config_.templates = folder_.path();
  folder_.write("local.sh", "echo {{tokn}}\n");
  restart();
  ticks(2);
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("'tokn'"));
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  folder_.write("local.sh", "echo {{token}}\n");
  ticks(1);
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, ARefusedJobIsTriedAgainLater) {
  cluster_.faults = {Fault::kReject};
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  EXPECT_EQ(attempts(id)[0].state, AttemptState::kRejected);
  EXPECT_THAT(daemon_->status().pause_reason, HasSubstr("no such partition"));
  clock_.pass(seconds(61));
  ticks(2);
  ASSERT_THAT(attempts(id), SizeIs(2));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSubmitTest, AnErrorOfOneSubmissionIsReportedAndRetriedLater) {
  cluster_.faults = {Fault::kThrowAfterAccepting};
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  EXPECT_THAT(daemon_->status().problem, HasSubstr("connection reset"));
  ticks(2);
  EXPECT_THAT(cluster_.requests, SizeIs(1));
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

TEST_F(DaemonSubmitTest, ARestoredBackupDoesNotRunAnAttemptNumberAgain) {
  const auto id = enqueue("a.mrc").id;
  std::filesystem::create_directories(config_.jobs() + "/" + std::to_string(id) + "/a3/claim");
  ticks(1);
  EXPECT_EQ(attempt(id).number, 4);
}

TEST_F(DaemonSubmitTest, AShareThatIsNotMountedQuarantinesNothingAndIsLookedForEverLessOften) {
  const std::string share = folder_.file("share");
  config_.local.slots = 2;
  restart();
  std::filesystem::create_directories(share);
  const auto id = enqueue("share/a.mrc").id;
  std::filesystem::rename(share, folder_.file("unmounted"));
  const auto other = enqueue("b.mrc").id;
  std::vector<int64_t> waits;
  for (int i = 0; i < 8; ++i) {
    ticks(1);
    EXPECT_EQ(item(id).state, ItemState::kQueued);
    waits.push_back((item(id).not_before - clock_.now()) / 60);
    clock_.pass(std::chrono::seconds(item(id).not_before - clock_.now()));
  }
  EXPECT_THAT(waits, ElementsAre(1, 2, 4, 8, 16, 33, 60, 60)) << "minutes";
  EXPECT_THAT(item(id).reason, HasSubstr("together with its folder"));
  EXPECT_EQ(item(other).state, ItemState::kActive);
  finish(attempt(other));
  std::filesystem::rename(folder_.file("unmounted"), share);
  ticks(3);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, ATemplateVolumeOnAShareThatIsNotMountedIsWaitedForToo) {
  const auto id = enqueue("a.mrc").id;
  const auto volume = db::TemplateStore(*database_).find(1).value();
  const std::string away = folder_.file("away/volume.mrc");
  db::Statement(database_->connection(), "UPDATE templates SET volume_path = ?").bind(away).run();
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(item(id).reason, HasSubstr("template volume"));
  db::Statement(database_->connection(), "UPDATE templates SET volume_path = ?")
      .bind(volume.volume_path)
      .run();
  clock_.pass(config_.intervals.retry);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(DaemonSubmitTest, ASearchThatIsDoneWhileItsShareIsAwayIsDone) {
  std::filesystem::create_directories(folder_.file("share"));
  const auto id = enqueue("share/a.mrc").id;
  ticks(2);
  finish(attempt(id));
  std::filesystem::rename(folder_.file("share"), folder_.file("unmounted"));
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kDone);
}

}  // namespace
}  // namespace scheduler
