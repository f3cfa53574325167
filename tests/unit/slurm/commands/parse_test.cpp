// On what the commands of a real Slurm 22.05.8 printed of jobs.
#include "slurm/commands/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/unit/slurm/commands/recorded_commands.h"
#include "tests/unit/slurm/recorded_look.h"

namespace slurm {
namespace {

using ::testing::HasSubstr;

// The last of a job in the recorded course of events, in a state.
JobStatus queued(const std::string& name, JobState state) {
  const QueueText queue = parse_squeue(recorded("squeue.txt"), kPrefix);
  EXPECT_EQ(queue.problem, "");
  const auto found = std::find_if(
      queue.jobs.rbegin(), queue.jobs.rend(),
      [&](const JobStatus& job) { return job.name == kPrefix + name && job.state == state; });
  if (found != queue.jobs.rend()) return *found;
  ADD_FAILURE() << "no " << name << " in state " << static_cast<int>(state);
  return {};
}

TEST(Squeue, TellsAJobThatWaits) {
  const JobStatus job = queued("begin", JobState::kPending);
  EXPECT_EQ(job.words, "PENDING");
  EXPECT_EQ(job.reason, "BeginTime");
  EXPECT_GT(job.submit_time, 1'700'000'000);
  EXPECT_EQ(job.start_time, 0) << "expected alone, not yet true";
  EXPECT_EQ(job.end_time, 0);
  EXPECT_EQ(job.host, "");
  EXPECT_EQ(job.gpus, 0);
  EXPECT_FALSE(job.held);
  EXPECT_FALSE(job.exit_code);
}

TEST(Squeue, TellsWhyAJobWaits) {
  EXPECT_EQ(queued("closed", JobState::kPending).reason, "PartitionDown");
  EXPECT_EQ(queued("too_long", JobState::kPending).reason, "PartitionTimeLimit");
  EXPECT_EQ(queued("too_wide", JobState::kPending).reason, "PartitionNodeLimit");
  EXPECT_EQ(queued("never", JobState::kPending).reason, "DependencyNeverSatisfied");
  EXPECT_THAT(queued("node_requeue", JobState::kPending).reason, HasSubstr("n04"));
}

TEST(Squeue, TellsAHeldJob) {
  EXPECT_TRUE(queued("held", JobState::kPending).held);
  EXPECT_EQ(queued("held", JobState::kPending).reason, "JobHeldUser");
  EXPECT_TRUE(queued("held_by_admin", JobState::kPending).held);
  EXPECT_EQ(queued("held_by_admin", JobState::kPending).reason, "JobHeldAdmin");
}

TEST(Squeue, TellsAJobThatRuns) {
  const JobStatus job = queued("too_slow", JobState::kRunning);
  EXPECT_EQ(job.host, "n03");
  EXPECT_GE(job.start_time, job.submit_time);
  EXPECT_EQ(job.end_time, 0) << "its time limit is no end";
  EXPECT_EQ(job.reason, "");
  EXPECT_EQ(job.restarts, 0);
}

TEST(Squeue, TellsHowAJobEnded) {
  const JobStatus failed = queued("fails", JobState::kFailed);
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_FALSE(failed.signal);
  EXPECT_EQ(failed.reason, "NonZeroExitCode");
  EXPECT_GE(failed.end_time, failed.start_time);
  EXPECT_EQ(queued("segv", JobState::kFailed).signal, 11);
  EXPECT_EQ(queued("gpus", JobState::kCompleted).exit_code, 0);
  EXPECT_EQ(queued("too_slow", JobState::kTimeout).reason, "TimeLimit");
  EXPECT_EQ(queued("preempted", JobState::kPreempted).host, "n03");
  EXPECT_EQ(queued("node_lost", JobState::kNodeFail).reason, "NodeDown");
  EXPECT_EQ(queued("badout", JobState::kFailed).reason, "JobLaunchFailure");
}

TEST(Squeue, CallsAJobThatCompletesNotYetOver) {
  const JobStatus job = queued("ignores", JobState::kCompleting);
  EXPECT_EQ(job.words, "COMPLETING");
  EXPECT_EQ(job.end_time, 0);
  EXPECT_FALSE(job.exit_code);
  EXPECT_EQ(queued("ignores", JobState::kCancelled).words, "CANCELLED");
}

TEST(Squeue, CallsASuspendedJobRunning) {
  EXPECT_EQ(queued("suspended", JobState::kRunning).words, "SUSPENDED");
}

TEST(Squeue, CountsTheRestartsOfARequeuedJob) {
  EXPECT_EQ(queued("requeued", JobState::kPending).restarts, 1);
  EXPECT_EQ(queued("requeued", JobState::kPending).reason, "BeginTime");
  EXPECT_EQ(queued("preempted_rq", JobState::kRunning).restarts, 1);
  EXPECT_EQ(queued("node_requeue", JobState::kPending).restarts, 1);
}

TEST(Squeue, TellsThatACancelledJobNeverRan) {
  const JobStatus job = queued("requeued", JobState::kCancelled);
  EXPECT_EQ(job.start_time, 0);
  EXPECT_GT(job.end_time, job.submit_time);
}

TEST(Squeue, CountsTheGpusOfTheWholeJob) {
  EXPECT_EQ(queued("gpus", JobState::kRunning).gpus, 8);
  EXPECT_EQ(queued("gpus_per_task", JobState::kPending).gpus, 3);
  EXPECT_EQ(queued("preempted", JobState::kRunning).gpus, 4);
}

std::string record(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : "\x1f") + field;
  return text + "\x1e\n";
}

TEST(Squeue, CountsGpusWhereTheSiteDoesNotAccountForThem) {
  const auto gpus = [](const std::string& job, const std::string& node, const std::string& task) {
    const QueueText queue =
        parse_squeue(record({"7", "RUNNING", "0", "0", "5", "6", "9", "n1", "1", "cpu=4,node=2",
                             job, node, task, "2", "6", "None", "margay-lab-x"}),
                     kPrefix);
    return queue.jobs.at(0).gpus.value();
  };
  EXPECT_EQ(gpus("gres:gpu:3", "N/A", "N/A"), 3);
  EXPECT_EQ(gpus("N/A", "gres:gpu:4", "N/A"), 8);
  EXPECT_EQ(gpus("N/A", "gres/gpu:a100:2,gres/nvme:1", "N/A"), 4);
  EXPECT_EQ(gpus("N/A", "gres:gpu", "N/A"), 2);
  EXPECT_EQ(gpus("N/A", "N/A", "gres:gpu:1"), 6);
  EXPECT_EQ(gpus("N/A", "gres:nvme:1", "N/A"), 0);
}

TEST(Squeue, PassesOverOtherJobsHoweverOddTheyAre) {
  const std::string all = recorded("squeue.txt");
  EXPECT_THAT(all, HasSubstr("od\nd"));
  const QueueText queue = parse_squeue(
      record({"7", "?", "?", "?", "", "", "", "", "", "", "", "", "", "", "", "", "a\x1f|\nb"}) +
          all,
      "margay-none-");
  EXPECT_EQ(queue.problem, "");
  EXPECT_TRUE(queue.jobs.empty());
}

TEST(Squeue, NoticesEveryCutThatCouldHideAJob) {
  const std::string all = recorded("squeue.txt").substr(0, 3000);
  const size_t jobs = parse_squeue(all, kPrefix).jobs.size();
  size_t complete = 0;
  for (size_t length = 0; length < all.size(); ++length) {
    const QueueText queue = parse_squeue(all.substr(0, length), kPrefix);
    if (queue.problem.empty()) ++complete;
    ASSERT_LE(queue.jobs.size(), jobs);
  }
  // Before the first record, and after each with and without its newline.
  EXPECT_EQ(complete, 1 + 2 * static_cast<size_t>(std::count(all.begin(), all.end(), '\x1e')));
}

TEST(Squeue, CallsAListWithAJobThatCannotBeReadIncomplete) {
  const QueueText queue =
      parse_squeue(record({"7", "RUNNING", "0", "0", "2026-01-01", "6", "9", "n1", "1", "", "", "",
                           "", "2", "6", "None", "margay-lab-x"}),
                   kPrefix);
  EXPECT_THAT(queue.problem, HasSubstr("margay-lab-x"));
}

TEST(Squeue, KnowsThatARefusedSubmissionWasNeverAJob) {
  const QueueText queue = parse_squeue(record({"7", "FAILED", "1", "0", "5", "5", "5", "n/a", "1",
                                               "", "", "", "", "1", "1", "None", "margay-lab-x"}),
                                       kPrefix);
  EXPECT_EQ(queue.problem, "");
  EXPECT_TRUE(queue.jobs.empty());
}

TEST(Squeue, CallsAWordThatIsNotKnownAlive) {
  const QueueText queue =
      parse_squeue(record({"7", "HIBERNATING", "0", "0", "5", "6", "9", "n1", "1", "", "", "", "",
                           "2", "6", "None", "margay-lab-x"}),
                   kPrefix);
  ASSERT_EQ(queue.jobs.size(), 1U);
  EXPECT_EQ(queue.jobs[0].state, JobState::kUnknownAlive);
  EXPECT_EQ(queue.jobs[0].words, "HIBERNATING");
}

std::vector<JobStatus> accounted(const std::string& name) {
  const auto jobs = parse_sacct(recorded("sacct.txt"), kPrefix + name);
  EXPECT_TRUE(jobs);
  return jobs.value_or(std::vector<JobStatus>{});
}

TEST(Sacct, TellsHowAJobEnded) {
  ASSERT_EQ(accounted("fails").size(), 1U);
  const JobStatus job = accounted("fails")[0];
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.exit_code, 3);
  EXPECT_FALSE(job.signal);
  EXPECT_EQ(job.host, "n03");
  EXPECT_GT(job.end_time, 1'700'000'000);
  EXPECT_EQ(accounted("segv")[0].signal, 11);
  EXPECT_EQ(accounted("too_slow")[0].state, JobState::kTimeout);
  EXPECT_EQ(accounted("node_lost")[0].state, JobState::kNodeFail);
  EXPECT_EQ(accounted("preempted")[0].state, JobState::kPreempted);
  EXPECT_EQ(accounted("gpus")[0].gpus, 8);
}

TEST(Sacct, TellsWhoCancelledIt) {
  ASSERT_EQ(accounted("ignores").size(), 1U);
  EXPECT_EQ(accounted("ignores")[0].state, JobState::kCancelled);
  EXPECT_FALSE(accounted("ignores")[0].cancelled_by_nobody);
}

TEST(Sacct, KnowsAJobWhoseCancellationNamesNobody) {
  std::string text = recorded("sacct.txt");
  const size_t by = text.find("CANCELLED by ");
  ASSERT_NE(by, std::string::npos);
  const size_t line = text.rfind('\n', by) + 1;
  const size_t end = text.find('\n', by);
  text = text.substr(line, end - line + 1);
  const std::string name =
      text.substr(text.rfind('\x1f') + 1, text.size() - text.rfind('\x1f') - 2);
  EXPECT_FALSE(parse_sacct(text, name)->at(0).cancelled_by_nobody);
  const size_t word = text.find(" by ");
  text.erase(word, text.find('\x1f', word) - word);
  EXPECT_TRUE(parse_sacct(text, name)->at(0).cancelled_by_nobody);
}

TEST(Sacct, MakesOneJobOfTheRunsOfOneId) {
  ASSERT_EQ(accounted("requeued").size(), 1U);
  EXPECT_EQ(accounted("requeued")[0].state, JobState::kCancelled);
  EXPECT_EQ(accounted("requeued")[0].restarts, 1);
  EXPECT_THAT(recorded("sacct.txt"), HasSubstr("REQUEUED"));
}

TEST(Sacct, TellsEachJobOfAName) { EXPECT_EQ(accounted("hi").size(), 2U); }

TEST(Sacct, KnowsThatARefusedSubmissionWasNeverAJob) {
  EXPECT_THAT(recorded("sacct.txt"), HasSubstr("margay-lab-refused"));
  EXPECT_TRUE(accounted("refused").empty());
}

TEST(Sacct, FindsNothingInNothing) { EXPECT_TRUE(parse_sacct("", "x")->empty()); }

TEST(Sacct, RefusesWhatItCannotRead) {
  EXPECT_FALSE(parse_sacct("7|COMPLETED\n", "x"));
  EXPECT_FALSE(
      parse_sacct("7\x1f"
                  "COMPLETED\x1f"
                  "0\x1f"
                  "5\x1f"
                  "5\x1f"
                  "5\x1fn\x1f\x1fx\n",
                  "x"));
}

TEST(Sacct, KnowsThatTheSiteHasNone) {
  EXPECT_TRUE(says_accounting_is_off("Slurm accounting storage is disabled\n"));
  EXPECT_FALSE(says_accounting_is_off("sacct: error: Problem talking to the database"));
  EXPECT_TRUE(says_too_many_days("sacct: error: Too wide of a date range in query\n"));
}

TEST(SlurmsCommands, ShowALookAsSlurmrestdDoes) {
  ClusterFacts facts;
  facts.site.nodes.value = parse_sinfo_nodes(recorded("sinfo.txt"));
  facts.site.partitions.value = parse_partitions_text(recorded("partitions.txt"));
  const EverybodyText queue =
      parse_squeue_of_everybody(recorded("squeue_everybody.txt"), "margay-x-");
  EXPECT_EQ(queue.problem, "");
  EXPECT_EQ(std::count_if(queue.jobs.begin(), queue.jobs.end(),
                          [](const QueuedJob& job) { return job.ours; }),
            3);
  set_jobs(queue.jobs, facts);
  tests::expect_recorded_nodes(*facts.site.nodes.value);
  tests::expect_recorded_jobs(facts);
  const PartitionFacts& small = facts.site.partitions.value->at("short");
  EXPECT_EQ(small.default_minutes, 1);
  EXPECT_EQ(small.priority_tier, 1);
  EXPECT_EQ(facts.site.partitions.value->at("closed").default_minutes, std::nullopt);
}

TEST(Squeue, ShowsNothingByAListOfEverybodysJobsThatWasCut) {
  const std::string whole = recorded("squeue_everybody.txt");
  for (size_t length = 1; length + 2 < whole.size(); length += 7) {
    const EverybodyText cut = parse_squeue_of_everybody(whole.substr(0, length), "margay-x-");
    const bool at_the_end_of_a_job = whole[length - 1] == '\x1e' || whole[length - 1] == '\n';
    EXPECT_EQ(cut.problem.empty(), at_the_end_of_a_job) << length;
  }
}

}  // namespace
}  // namespace slurm
