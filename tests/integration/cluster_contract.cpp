#include "tests/integration/cluster_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "slurm/cluster_facts.h"
#include "slurm/job_states.h"
#include "tests/require.h"
#include "tests/scratch_folder.h"

namespace tests {

using slurm::JobRequest;
using slurm::JobState;
using slurm::JobStatus;
using slurm::SubmitOutcome;
using slurm::SubmitResult;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

namespace {

constexpr int kTimeout = 60'000;  // ms
constexpr int kPause = 20;        // ms

}  // namespace

void ClusterContract::SetUp() {
  if (!GetParam().missing.empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", GetParam().missing);
  site_ = GetParam().make();
  cluster_ = site_->client();
}

bool ClusterContract::becomes_true(const std::function<bool()>& condition) {
  for (int waited = 0; waited < kTimeout; waited += kPause) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(kPause));
  }
  return false;
}

JobRequest ClusterContract::request(const std::string& name, const std::string& then) const {
  const std::string folder = site_->folder();
  return {.name = full(name),
          .comment = "{\"contract\": 1}",
          .script = "#!/bin/bash\n#SBATCH --time=10\necho " + name + " >> '" + folder + "/ran'\n" +
                    then + "\n",
          .directory = folder,
          .output_path = folder + "/" + name + ".log",
          .environment = {}};
}

std::string ClusterContract::submit(const JobRequest& request) {
  const SubmitResult result = cluster_->submit(request);
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted) << result.message;
  EXPECT_NE(result.job_id, "");
  return result.job_id;
}

std::string ClusterContract::submit(const std::string& name, const std::string& then) {
  return submit(request(name, then));
}

std::optional<JobStatus> ClusterContract::look(const std::string& job_id) {
  slurm::Snapshot snapshot;
  const bool complete = becomes_true([&] {
    snapshot = cluster_->states();
    return snapshot.complete && snapshot.fresh;
  });
  EXPECT_TRUE(complete) << snapshot.problem;
  for (const JobStatus& job : snapshot.jobs) {
    if (job.job_id == job_id) return job;
  }
  return std::nullopt;
}

bool ClusterContract::becomes(const std::string& job_id, JobState state) {
  return becomes_true([&] {
    const auto job = look(job_id);
    return job && job->state == state;
  });
}

JobStatus ClusterContract::end_of(const std::string& job_id) {
  JobStatus last;
  const bool ended = becomes_true([&] {
    const auto job = look(job_id);
    if (job) last = *job;
    return job && is_over(job->state);
  });
  EXPECT_TRUE(ended) << job_id << " does not end: " << last.words << " " << last.reason;
  return last;
}

bool ClusterContract::is_cancelled(const std::string& job_id) {
  return becomes_true([&] {
    look(job_id);
    return cluster_->cancel(job_id);
  });
}

std::vector<JobStatus> ClusterContract::found(const std::string& name) {
  std::optional<std::vector<JobStatus>> jobs;
  const bool asked = becomes_true([&] {
    look("");
    jobs = cluster_->find_by_name(full(name));
    return jobs.has_value();
  });
  EXPECT_TRUE(asked) << "nobody knows of " << name;
  return jobs.value_or(std::vector<JobStatus>{});
}

int ClusterContract::times_run(const std::string& name) const {
  std::istringstream lines(text_of(site_->folder() / "ran"));
  int times = 0;
  for (std::string line; std::getline(lines, line);) times += line == name ? 1 : 0;
  return times;
}

std::string ClusterContract::wait_line() const {
  return "while [ ! -e '" + (site_->folder() / "go").string() + "' ]; do sleep 0.05; done";
}

void ClusterContract::let_go() const { std::ofstream(site_->folder() / "go") << "go"; }

// By sh, since what bash runs as a script's shell is not asked to stop on the local cluster.
std::string ClusterContract::step_line() const {
  return std::string(can().runs_steps ? "srun " : "") +
         "sh -c 'trap \"echo stopped; exit 85\" USR1; echo up; while true; do sleep 0.1; done'";
}

std::string ClusterContract::log_of(const std::string& name) const {
  return text_of(site_->folder() / (name + ".log"));
}

TEST_P(ClusterContract, ASubmittedJobRunsOnceAndIsCompleted) {
  const JobStatus job = end_of(submit("good", "true"));
  EXPECT_EQ(job.state, JobState::kCompleted);
  EXPECT_THAT(job.exit_code, Optional(0));
  EXPECT_EQ(job.name, full("good"));
  EXPECT_FALSE(job.host.empty());
  EXPECT_GT(job.submit_time, 0);
  EXPECT_GE(job.start_time, job.submit_time);
  EXPECT_GE(job.end_time, job.start_time);
  EXPECT_EQ(job.restarts, 0);
  EXPECT_EQ(times_run("good"), 1);
}

TEST_P(ClusterContract, TheExitCodeOfAFailedJobIsKept) {
  const JobStatus job = end_of(submit("bad", "exit 85"));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.exit_code, Optional(85));
  EXPECT_EQ(job.signal, std::nullopt);
}

TEST_P(ClusterContract, AJobThatDiesOfASignalSaysOfWhich) {
  const JobStatus job = end_of(submit("killed", "kill -SEGV $$"));
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_THAT(job.signal, Optional(SIGSEGV));
}

TEST_P(ClusterContract, ARunningJobIsShownAsSuch) {
  const std::string id = submit("runs", wait_line());
  ASSERT_TRUE(becomes(id, JobState::kRunning));
  const auto job = look(id);
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->host.empty());
  EXPECT_GE(job->start_time, job->submit_time);
  EXPECT_EQ(job->exit_code, std::nullopt);
  EXPECT_FALSE(job->held);
  let_go();
  EXPECT_EQ(end_of(id).state, JobState::kCompleted);
}

TEST_P(ClusterContract, AJobIsFoundByItsNameWhileItRunsAndWhenItHasEnded) {
  const std::string id = submit("named", wait_line());
  ASSERT_TRUE(becomes(id, JobState::kRunning));
  EXPECT_THAT(found("named"), AllOf(SizeIs(1), Each(Field(&JobStatus::job_id, id))));
  let_go();
  end_of(id);
  const auto ended = found("named");
  ASSERT_THAT(ended, SizeIs(1));
  EXPECT_EQ(ended[0].job_id, id);
}

TEST_P(ClusterContract, ANameThatNobodySubmittedIsNotFound) {
  EXPECT_THAT(found("nobody"), IsEmpty());
}

TEST_P(ClusterContract, TheBeginningOfANameIsAnotherName) {
  end_of(submit("name-a1", "true"));
  EXPECT_THAT(found("name-a"), IsEmpty());
  EXPECT_THAT(found("name-a11"), IsEmpty());
}

TEST_P(ClusterContract, TheEnvironmentAndTheDirectoryReachTheJob) {
  JobRequest asked = request("env", "pwd; echo \"<$ITS_OWN>\"; env");
  asked.environment = {{"ITS_OWN", "a b='\"$c"}, {"PATH", "/usr/bin:/bin"}};
  end_of(submit(asked));
  EXPECT_THAT(log_of("env"),
              AllOf(HasSubstr(std::filesystem::canonical(site_->folder()).string() + "\n"),
                    HasSubstr("<a b='\"$c>\n")));
}

TEST_P(ClusterContract, NothingOfTheDaemonsEnvironmentReachesAJob) {
  ASSERT_EQ(setenv("MARGAY_TEST_SECRET", "a secret", 1), 0);
  end_of(submit("clean", "env"));
  unsetenv("MARGAY_TEST_SECRET");
  EXPECT_THAT(log_of("clean"), Not(HasSubstr("MARGAY_TEST_SECRET")));
}

TEST_P(ClusterContract, OutputAndErrorsGoToTheFile) {
  end_of(submit("speaks", "echo out; echo err >&2"));
  EXPECT_THAT(log_of("speaks"), AllOf(HasSubstr("out\n"), HasSubstr("err\n")));
}

TEST_P(ClusterContract, TheScriptArrivesAsItIs) {
  std::string odd = "cat << 'END'\n\"quotes\" 'of' \\ both `kinds` $HOME \u00e9\u00df\u4e2d\ttab\n";
  for (int i = 0; i < 2000; ++i) odd += "line " + std::to_string(i) + " {\"json\": [1, 2]}\n";
  end_of(submit("odd", odd + "END"));
  EXPECT_EQ(log_of("odd"), odd.substr(odd.find('\n') + 1));
}

TEST_P(ClusterContract, AJobKnowsItsOwnIdAndName) {
  const std::string id = submit(
      "self", "echo \"${SLURM_JOB_ID:-$MARGAY_JOB_ID} ${SLURM_JOB_NAME:-$MARGAY_JOB_NAME}\"");
  end_of(id);
  EXPECT_EQ(log_of("self"), id + " " + full("self") + "\n");
}

TEST_P(ClusterContract, ACancelledJobEnds) {
  const std::string id = submit("stopped", "sleep 600");
  ASSERT_TRUE(becomes(id, JobState::kRunning));
  ASSERT_TRUE(is_cancelled(id));
  const JobStatus job = end_of(id);
  EXPECT_THAT(job.state, AnyOf(JobState::kCancelled, JobState::kFailed));
}

TEST_P(ClusterContract, AnUnknownJobHasNothingToCancel) { EXPECT_TRUE(is_cancelled("999999")); }

TEST_P(ClusterContract, AnEndedJobHasNothingToCancelAndStaysWhatItWas) {
  const std::string id = submit("over", "exit 3");
  end_of(id);
  EXPECT_TRUE(is_cancelled(id));
  EXPECT_THAT(look(id)->exit_code, Optional(3));
}

TEST_P(ClusterContract, AHeldJobStartsOnlyWhenItIsReleased) {
  if (!can().holds) GTEST_SKIP() << "this cluster holds nothing";
  JobRequest asked = request("held", "true");
  asked.hold = true;
  const std::string id = submit(asked);
  end_of(submit("free", "true"));
  const auto held = look(id);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->state, JobState::kPending);
  EXPECT_TRUE(held->held);
  EXPECT_EQ(times_run("held"), 0);
  ASSERT_TRUE(becomes_true([&] { return cluster_->release(id); }));
  EXPECT_EQ(end_of(id).state, JobState::kCompleted);
  EXPECT_EQ(times_run("held"), 1);
}

TEST_P(ClusterContract, ARequestToStopReachesTheStep) {
  const std::string id = submit("step", "trap 'echo script' USR1\n" + step_line() + "\nexit $?");
  ASSERT_TRUE(becomes_true([&] { return log_of("step").find("up\n") != std::string::npos; }));
  ASSERT_TRUE(becomes_true([&] { return cluster_->signal_stop(id); }));
  const JobStatus job = end_of(id);
  EXPECT_THAT(job.exit_code, Optional(85)) << log_of("step");
  EXPECT_THAT(log_of("step"), HasSubstr("stopped\n"));
  if (can().spares_script) {
    EXPECT_THAT(log_of("step"), Not(HasSubstr("script")));
  }
}

TEST_P(ClusterContract, TwoJobsOfOneNameAreBothListedAndNeverRunTogether) {
  if (!can().repeats_names) GTEST_SKIP() << "on this cluster a name is one job";
  const std::string first = submit("twin", wait_line());
  const std::string second = submit("twin", "true");
  ASSERT_NE(first, second);
  ASSERT_TRUE(becomes(first, JobState::kRunning));
  EXPECT_EQ(look(second)->state, JobState::kPending);
  EXPECT_THAT(found("twin"), SizeIs(2));
  ASSERT_TRUE(is_cancelled(second));
  let_go();
  EXPECT_EQ(end_of(first).state, JobState::kCompleted);
  EXPECT_EQ(times_run("twin"), 1);
}

TEST_P(ClusterContract, ANameSubmittedTwiceIsOneJobWhereANameIsAJob) {
  if (can().repeats_names) GTEST_SKIP() << "on this cluster names repeat";
  const std::string first = submit("twin", "true");
  EXPECT_EQ(submit("twin", "true"), first);
  end_of(first);
  EXPECT_EQ(times_run("twin"), 1);
}

TEST_P(ClusterContract, ADaemonThatIsStartedAgainFindsItsJobs) {
  const std::string id = submit("orphan", wait_line() + "\nexit 7");
  ASSERT_TRUE(becomes(id, JobState::kRunning));
  cluster_ = site_->client();
  EXPECT_EQ(look(id)->state, JobState::kRunning);
  EXPECT_THAT(found("orphan"), SizeIs(1));
  let_go();
  EXPECT_THAT(end_of(id).exit_code, Optional(7));
  EXPECT_EQ(times_run("orphan"), 1);
}

TEST_P(ClusterContract, ForgettingIsNeverAnErrorAndStopsNothing) {
  const std::string id = submit("kept", wait_line());
  ASSERT_TRUE(becomes(id, JobState::kRunning));
  cluster_->forget(id);
  cluster_->forget("999999");
  EXPECT_EQ(look(id)->state, JobState::kRunning);
  let_go();
  EXPECT_TRUE(becomes_true([&] {
    const auto job = look(id);
    return !job || job->state == JobState::kCompleted;
  }));
  cluster_->forget(id);
}

TEST_P(ClusterContract, AJobForAPartitionThatIsNotThereIsRefusedForTheConfiguration) {
  if (!can().has_partitions) GTEST_SKIP() << "this cluster has no partitions";
  JobRequest asked = request("nowhere", "true");
  asked.script.insert(asked.script.find("echo"), "#SBATCH --partition=nosuchpartition\n");
  const SubmitResult result = cluster_->submit(asked);
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(result.refusal, slurm::Refusal::kConfiguration);
  EXPECT_NE(result.message, "");
  EXPECT_THAT(found("nowhere"), IsEmpty());
}

TEST_P(ClusterContract, WhatAJobAskedForIsShown) {
  if (!can().counts_gpus) GTEST_SKIP() << "this cluster says nothing of GPUs";
  JobRequest asked = request("gpus", "true");
  asked.script.insert(asked.script.find("echo"), "#SBATCH --gres=gpu:2\n");
  const std::string id = submit(asked);
  end_of(id);
  EXPECT_THAT(look(id)->gpus, Optional(2));
}

TEST_P(ClusterContract, ARunningJobAndItsNodesAreAmongTheFacts) {
  const std::string name = full("seen");
  submit("seen", wait_line());
  slurm::ClusterFacts facts;
  const auto seen = [&] {
    cluster_->states();
    facts = cluster_->facts();
    return facts.complete && std::any_of(facts.running.begin(), facts.running.end(),
                                         [&](const slurm::QueuedJob& job) {
                                           return job.status.name == name && job.ours;
                                         });
  };
  ASSERT_TRUE(becomes_true(seen)) << facts.problem;
  const auto job = std::find_if(facts.running.begin(), facts.running.end(),
                                [&](const auto& one) { return one.status.name == name; });
  const auto shares = slurm::shares_of(*job);
  ASSERT_THAT(shares, SizeIs(1));
  EXPECT_THAT(facts.site.nodes.value->each,
              Contains(Field(&slurm::NodeFacts::name, shares[0].node)));
  EXPECT_FALSE(facts.site.partitions.value->empty());
  EXPECT_GT(facts.site.now, 1'700'000'000);
  const int64_t limit = job->limit_end - job->status.start_time;
  EXPECT_TRUE(job->limit_end == 0 || (limit > 598 && limit < 602)) << limit;
  let_go();
}

TEST_P(ClusterContract, ItSaysWhatItIsAndWhetherItWorks) {
  look("");
  EXPECT_NE(cluster_->describe(), "");
  EXPECT_GT(cluster_->nodes(), 0);
  EXPECT_GT(cluster_->allowance(), 0);
  const auto findings = cluster_->examine({});
  ASSERT_THAT(findings, Not(IsEmpty()));
  for (const slurm::Finding& finding : findings) {
    EXPECT_NE(finding.level, slurm::Finding::Level::kBad)
        << finding.subject << ": " << finding.says;
  }
}

}  // namespace tests
