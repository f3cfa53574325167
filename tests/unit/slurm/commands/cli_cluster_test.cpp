// With scripts in the place of Slurm's commands, which write down how they were called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/unit/slurm/commands/cli_commands.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST_F(Commands, SubmitAJobWithItsScriptInAFileOfItsOwn) {
  becomes("sbatch", "cp \"${@: -1}\" " + scratch_ / "script" + "; stat -c %a \"${@: -1}\" > " +
                        scratch_ / "mode" + "; echo 17");
  const SubmitResult result = cluster().submit(request());
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted) << result.message;
  EXPECT_EQ(result.job_id, "17");
  ASSERT_EQ(calls("sbatch").size(), 1U);
  EXPECT_THAT(calls("sbatch")[0],
              IsSupersetOf({std::string("--parsable"), std::string("--job-name=margay-lab-1-a1"),
                            std::string("--comment={\"item\": 1}"),
                            std::string("--dependency=singleton"), std::string("--no-requeue"),
                            "--chdir=" + scratch_.path(), "--output=" + scratch_ / "out"}));
  EXPECT_THAT(calls("sbatch")[0], Not(Contains("--hold")));
  EXPECT_EQ(tests::text_of(scratch_ / "script"), request().script);
  EXPECT_EQ(tests::text_of(scratch_ / "mode"), "600\n");
  EXPECT_TRUE(fs::is_empty(options_.scratch)) << "the file is removed";
}

class Environment : public Commands {
 protected:
  Environment() {
    ::setenv("SBATCH_PARTITION", "wrong", 1);
    ::setenv("SLURM_JWT", "secret", 1);
    ::setenv("LC_ALL", "de_DE.UTF-8", 1);
    ::setenv("SLURM_CONF", "/etc/somewhere/slurm.conf", 1);
    for (const char* command : {"sbatch", "squeue"}) {
      becomes(command,
              "env > " + scratch_ / "environment" + "; [ $(basename $0) = squeue ] || echo 17");
    }
  }
  ~Environment() override {
    for (const char* name : {"SBATCH_PARTITION", "SLURM_JWT", "LC_ALL", "SLURM_CONF"}) {
      ::unsetenv(name);
    }
  }
  std::string seen() const { return tests::text_of(scratch_ / "environment"); }
};

TEST_F(Environment, OfAJobIsItsOwnAndWhatSlurmNeeds) {
  cluster().submit(request());
  EXPECT_THAT(seen(), AllOf(HasSubstr("MINE=a b\n"), HasSubstr("PATH="),
                            HasSubstr("SLURM_CONF=/etc/somewhere/slurm.conf\n")));
  for (const char* other : {"wrong", "secret", "de_DE", "SLURM_TIME_FORMAT"}) {
    EXPECT_THAT(seen(), Not(HasSubstr(other)));
  }
}

TEST_F(Environment, OfTheOthersMakesTheirWordsReadable) {
  cluster().states();
  EXPECT_THAT(seen(), AllOf(HasSubstr("LC_ALL=C\n"), HasSubstr("SLURM_TIME_FORMAT=%s\n"),
                            HasSubstr("SLURM_CONF=/etc/somewhere/slurm.conf\n"),
                            Not(HasSubstr("wrong")), Not(HasSubstr("secret"))));
}

TEST_F(Commands, LeaveTheFolderToTheScriptThatNamesOne) {
  JobRequest job = request();
  job.script = "#!/bin/bash\n#SBATCH --chdir=/elsewhere\n";
  job.hold = true;
  becomes("sbatch", "echo 17");
  cluster().submit(job);
  EXPECT_THAT(calls("sbatch").at(0), Contains("--hold"));
  EXPECT_THAT(calls("sbatch").at(0), Not(Contains("--chdir=" + scratch_.path())));
}

TEST_F(Commands, AreNotAskedForAScriptThatSbatchWouldRefuse) {
  JobRequest job = request();
  job.script = "#!/bin/bash\n#SBATCH --no-such-thing\n";
  const SubmitResult result = cluster().submit(job);
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message, HasSubstr("no-such-thing"));
  EXPECT_THAT(calls("sbatch"), IsEmpty());
}

TEST_F(Commands, ProveNothingWhenSbatchTakesTooLong) {
  options_.timeout = milliseconds(300);
  becomes("sbatch", "sleep 600");
  const SubmitResult result = cluster().submit(request());
  EXPECT_EQ(result.outcome, SubmitOutcome::kUnknown);
  EXPECT_THAT(result.message, HasSubstr("did not end within 0.3 s"));
  EXPECT_TRUE(fs::is_empty(options_.scratch));
}

TEST_F(Commands, RefuseWhenSbatchIsMissing) {
  fs::remove(scratch_ / "bin/sbatch");
  const SubmitResult result = cluster().submit(request());
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kConfiguration);
  EXPECT_THAT(result.message, HasSubstr("sbatch: No such file or directory"));
}

TEST_F(Commands, WaitWhenTheScratchFolderIsGone) {
  cluster();
  fs::remove_all(options_.scratch);
  const SubmitResult result = cluster().submit(request());
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, Refusal::kBusy);
  EXPECT_THAT(result.message, HasSubstr(options_.scratch));
}

TEST_F(Commands, RemoveOldFilesOfAKilledDaemonAlone) {
  fs::create_directory(options_.scratch);
  for (const char* name : {"sbatch-young1", "sbatch-old001", "other"}) {
    scratch_.write(std::string("scratch/") + name, "x");
  }
  for (const char* name : {"sbatch-old001", "other"}) {
    fs::last_write_time(scratch_ / (std::string("scratch/") + name),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  cluster();
  EXPECT_FALSE(fs::exists(scratch_ / "scratch/sbatch-old001"));
  EXPECT_TRUE(fs::exists(scratch_ / "scratch/sbatch-young1"));
  EXPECT_TRUE(fs::exists(scratch_ / "scratch/other"));
}

TEST_F(Commands, ListOwnJobsInOneRequestAPoll) {
  queue_holds(
      {{"RUNNING", "margay-lab-1-a1"}, {"PENDING", "other"}, {"PENDING", "margay-lab-2-a1"}});
  const Snapshot first = cluster().states();
  EXPECT_TRUE(first.complete) << first.problem;
  EXPECT_TRUE(first.fresh);
  ASSERT_EQ(first.jobs.size(), 2U);
  EXPECT_EQ(first.jobs[1].name, "margay-lab-2-a1");
  EXPECT_THAT(calls("squeue").at(0), Contains("--me"));
  now_ms_ += 9'999;
  const Snapshot again = cluster().states();
  EXPECT_FALSE(again.fresh);
  EXPECT_TRUE(again.complete);
  EXPECT_EQ(again.jobs.size(), 2U);
  now_ms_ += 1;
  EXPECT_TRUE(cluster().states().fresh);
  EXPECT_EQ(calls("squeue").size(), 2U);
}

TEST_F(Commands, LookAtOneJobWithoutAList) {
  queue_holds({{"RUNNING", "margay-lab-1-a1"}, {"PENDING", "margay-lab-2-a1"}});
  EXPECT_EQ(cluster().look("11"), JobState::kRunning);
  EXPECT_EQ(cluster().look("12"), JobState::kPending);
  EXPECT_EQ(cluster().look("13"), std::nullopt);
  EXPECT_EQ(cluster().look("13; true"), std::nullopt);
  ASSERT_EQ(calls("squeue").size(), 3U);
  EXPECT_THAT(calls("squeue").at(0), Contains("--jobs=11"));
}

TEST_F(Commands, PollLessOftenASlowController) {
  queue_holds({});
  // Each list takes four seconds: the next one comes twenty after it began.
  options_.steady_ms = [this] {
    return now_ms_ + 4'000 * static_cast<int64_t>(calls("squeue").size());
  };
  cluster().states();
  now_ms_ += 15'999;
  EXPECT_FALSE(cluster().states().fresh);
  now_ms_ += 1;
  EXPECT_TRUE(cluster().states().fresh);
  EXPECT_EQ(calls("squeue").size(), 2U);
}

TEST_F(Commands, TellNothingByAListThatFailed) {
  queue_holds({{"RUNNING", "margay-lab-1-a1"}});
  cluster().states();
  becomes("squeue",
          "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect "
          "failure)' >&2; exit 1");
  now_ms_ += 60'000;
  const Snapshot snapshot = cluster().states();
  EXPECT_FALSE(snapshot.complete);
  EXPECT_TRUE(snapshot.fresh);
  EXPECT_THAT(snapshot.problem, HasSubstr("Unable to contact slurm controller"));
  EXPECT_THAT(snapshot.jobs, IsEmpty());
}

TEST_F(Commands, TellNothingByAListThatWasCut) {
  becomes("squeue", "printf '11\\x1fRUNNING\\x1f'");
  EXPECT_FALSE(cluster().states().complete);
}

TEST_F(Commands, FindAJobByNameInQueueAndAccounting) {
  queue_holds({{"RUNNING", "margay-lab-1-a1"}, {"RUNNING", "margay-lab-2-a1"}});
  becomes("sacct",
          "printf '9\\x1f"
          "COMPLETED\\x1f"
          "0:0\\x1f"
          "5\\x1f"
          "6\\x1f"
          "7\\x1fn1\\x1f\\x1fmargay-lab-1-a1\\n"
          "11\\x1fPENDING\\x1f"
          "0:0\\x1f"
          "5\\x1fUnknown\\x1fUnknown\\x1f\\x1f\\x1fmargay-lab-1-a1\\n'");
  EXPECT_FALSE(cluster().find_by_name("margay-lab-1-a1")) << "no list yet";
  cluster().states();
  const auto found = cluster().find_by_name("margay-lab-1-a1");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].job_id, "11");
  EXPECT_EQ((*found)[0].state, JobState::kRunning) << "the controller knows what lives";
  EXPECT_EQ((*found)[1].job_id, "9");
  EXPECT_EQ((*found)[1].state, JobState::kCompleted);
  EXPECT_THAT(calls("sacct").at(0), Contains("--name=margay-lab-1-a1"));
}

// sacct prints neither the reason nor how often a job was requeued.
TEST_F(Commands, AnEndOnWhichBothAgreeIsReportedAsTheQueueHasIt) {
  queue_holds({{"FAILED", "margay-lab-1-a1"}});
  becomes("sacct",
          "printf '11\\x1fFAILED\\x1f1:0\\x1f5\\x1f6\\x1f7\\x1fn1\\x1f\\x1fmargay-lab-1-a1\\n'");
  cluster().states();
  const auto found = cluster().find_by_name("margay-lab-1-a1");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].state, JobState::kFailed);
  EXPECT_EQ((*found)[0].exit_code, 0) << "the queue's";
}

TEST_F(Commands, AccountingHasTheLastWordOnAnEnd) {
  queue_holds({{"COMPLETED", "margay-lab-1-a1"}});
  becomes("sacct",
          "printf '11\\x1fTIMEOUT\\x1f0:0\\x1f5\\x1f6\\x1f7\\x1fn1\\x1f\\x1fmargay-lab-1-a1\\n'");
  cluster().states();
  const auto found = cluster().find_by_name("margay-lab-1-a1");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].state, JobState::kTimeout);
}

TEST_F(Commands, AJobThatNoQueueHasAfterItsCancelNeedsNoStopping) {
  queue_holds({});
  becomes("scancel", "echo 'scancel: Terminating job 11' >&2");
  cluster().states();
  EXPECT_FALSE(cluster().cancel("11"));
  EXPECT_FALSE(cluster().cancel("11")) << "not looked at since";
  now_ms_ += 10'000;
  cluster().states();
  EXPECT_TRUE(cluster().cancel("11"));
  EXPECT_EQ(calls("scancel").size(), 1U);
}

TEST_F(Commands, GoOnWithoutAccountingWhereThereIsNone) {
  queue_holds({});
  becomes("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  cluster().states();
  for (int i = 0; i < 3; ++i) {
    const auto found = cluster().find_by_name("margay-lab-1-a1");
    ASSERT_TRUE(found);
    EXPECT_THAT(*found, IsEmpty());
  }
  EXPECT_EQ(calls("sacct").size(), 1U);
}

TEST_F(Commands, DoNotTakeFailingAccountingForNoJob) {
  queue_holds({});
  becomes("sacct", "echo 'sacct: error: Problem talking to the database' >&2; exit 1");
  cluster().states();
  EXPECT_FALSE(cluster().find_by_name("margay-lab-1-a1"));
  becomes("sacct", "");
  EXPECT_TRUE(cluster().find_by_name("margay-lab-1-a1"));
}

TEST_F(Commands, DoNotTakeMissingAccountingForNoJobWhereItMustBe) {
  options_.accounting = Accounting::kOn;
  queue_holds({});
  becomes("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  cluster().states();
  EXPECT_FALSE(cluster().find_by_name("margay-lab-1-a1"));
}

TEST_F(Commands, AskAccountingForFewerDaysWhereTheSiteWantsSo) {
  queue_holds({});
  becomes("sacct", "echo 'sacct: error: Too wide of a date range in query' >&2; exit 1");
  cluster().states();
  cluster().find_by_name("x");
  cluster().find_by_name("x");
  EXPECT_THAT(calls("sacct").at(0), Contains("--starttime=now-90days"));
  EXPECT_THAT(calls("sacct").at(1), Contains("--starttime=now-30days"));
}

TEST_F(Commands, CancelAndLookWhetherItIsOver) {
  queue_holds({{"RUNNING", "margay-lab-1-a1"}});
  becomes("scancel", "echo 'scancel: Terminating job 11' >&2");
  cluster().states();
  EXPECT_FALSE(cluster().cancel("11"));
  EXPECT_FALSE(cluster().cancel("11"));
  EXPECT_THAT(calls("scancel"), ElementsAre(ElementsAre("--verbose", "11")));
  now_ms_ += 60'000;
  EXPECT_FALSE(cluster().cancel("11"));
  EXPECT_EQ(calls("scancel").size(), 2U) << "asked again after a minute";
  queue_holds({{"CANCELLED", "margay-lab-1-a1"}});
  now_ms_ += 10'000;
  cluster().states();
  EXPECT_TRUE(cluster().cancel("11"));
  EXPECT_EQ(calls("scancel").size(), 2U);
}

TEST_F(Commands, CancelAJobThatIsGoneAtOnce) {
  becomes("scancel",
          "echo 'scancel: error: Kill job error on job id 9: Invalid job id specified' >&2");
  EXPECT_TRUE(cluster().cancel("9"));
  EXPECT_TRUE(cluster().cancel("--user=alice")) << "no id of Slurm's";
  EXPECT_THAT(calls("scancel"), ElementsAre(ElementsAre("--verbose", "9")));
}

TEST_F(Commands, CancelAgainWhatFailed) {
  becomes("scancel", "exit 8");
  EXPECT_FALSE(cluster().cancel("9"));
  EXPECT_FALSE(cluster().cancel("9"));
  EXPECT_EQ(calls("scancel").size(), 2U);
}

TEST_F(Commands, AskTheStepsAloneToStop) {
  EXPECT_TRUE(cluster().signal_stop("9"));
  EXPECT_THAT(calls("scancel"), ElementsAre(ElementsAre("--signal=USR1", "9")));
  becomes("scancel", "exit 1");
  EXPECT_FALSE(cluster().signal_stop("9"));
}

TEST_F(Commands, ReleaseAHeldJob) {
  EXPECT_TRUE(cluster().release("9"));
  EXPECT_THAT(calls("scontrol"), ElementsAre(ElementsAre("release", "9")));
  becomes("scontrol", "echo 'slurm_suspend error: Unexpected message received' >&2; exit 1");
  EXPECT_FALSE(cluster().release("9"));
}

TEST_F(Commands, KeepTheBudgetOfRequests) {
  options_.requests_per_minute = 30;  // five at once
  queue_holds({});
  becomes("sbatch", "echo 17");
  EXPECT_EQ(cluster().allowance(), 4) << "one is kept for the list";
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(cluster().submit(request()).outcome, SubmitOutcome::kAccepted);
  }
  const SubmitResult refused = cluster().submit(request());
  EXPECT_EQ(refused.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(refused.refusal, Refusal::kBusy);
  EXPECT_FALSE(cluster().release("9"));
  EXPECT_FALSE(cluster().signal_stop("9"));
  EXPECT_FALSE(cluster().cancel("9"));
  EXPECT_EQ(cluster().nodes(), 0);
  EXPECT_TRUE(cluster().states().complete);
  EXPECT_FALSE(cluster().find_by_name("x"));
  EXPECT_EQ(calls("sbatch").size(), 4U);
  EXPECT_EQ(calls("scontrol").size() + calls("scancel").size() + calls("sinfo").size() +
                calls("sacct").size(),
            0U);
  now_ms_ += 30'000;
  EXPECT_EQ(cluster().submit(request()).outcome, SubmitOutcome::kAccepted);
}

TEST_F(Commands, CountTheNodesSeldom) {
  becomes("sinfo", "printf 'n01|gpu:4\\nn02|gpu:4\\nn01|gpu:4\\n'");
  EXPECT_EQ(cluster().nodes(), 2);
  EXPECT_EQ(cluster().nodes(), 2);
  EXPECT_EQ(calls("sinfo").size(), 1U);
}

TEST_F(Commands, TellWhatTestOnlySays) {
  becomes("sbatch", "echo 'sbatch: Job 38 to start at noon' >&2");
  EXPECT_EQ(cluster().test_only(request()), "Job 38 to start at noon");
  EXPECT_EQ(calls("sbatch").at(0).at(0), "--test-only");
  fs::remove(scratch_ / "bin/sbatch");
  EXPECT_THROW(cluster().test_only(request()), std::runtime_error);
}

TEST_F(Commands, AreDescribedInOneLine) {
  EXPECT_THAT(cluster().describe(), AllOf(HasSubstr(scratch_ / "bin"), HasSubstr("120")));
}

}  // namespace
}  // namespace slurm
