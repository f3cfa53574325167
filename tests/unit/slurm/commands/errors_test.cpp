// What sbatch and scancel of a real Slurm 22.05.8 said in each case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "slurm/commands/parse.h"

namespace slurm {
namespace {

using Ending = CommandResult::Ending;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

CommandResult ended(int exit_code, const std::string& output, const std::string& error) {
  return {.ending = Ending::kEnded,
          .exit_code = exit_code,
          .output = output,
          .error = error,
          .why = exit_code == 0 ? "" : "sbatch ended with " + std::to_string(exit_code)};
}

SubmitResult failed(const std::string& error, int exit_code = 1) {
  return classify_sbatch(ended(exit_code, "", error));
}

SubmitResult answered(const std::string& sentence) {
  return failed("sbatch: error: Batch job submission failed: " + sentence + "\n");
}

TEST(Sbatch, NamesTheJobThatItMade) {
  const SubmitResult result = classify_sbatch(ended(0, "1234\n", ""));
  EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(result.job_id, "1234");
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(classify_sbatch(ended(0, "77;west\n", "")).job_id, "77");
}

TEST(Sbatch, KeepsWhatTheSiteSaysBesideTheJob) {
  const SubmitResult result =
      classify_sbatch(ended(0, "Welcome!\n12\n", "sbatch: your quota is nearly used\n"));
  EXPECT_EQ(result.job_id, "12");
  EXPECT_THAT(result.warnings, ElementsAre("your quota is nearly used"));
}

TEST(Sbatch, MadeTheJobThatItNamedHoweverItEnded) {
  CommandResult late = ended(-1, "1234\n", "");
  late.ending = Ending::kTimedOut;
  EXPECT_EQ(classify_sbatch(late).outcome, SubmitOutcome::kAccepted);
  EXPECT_EQ(classify_sbatch(ended(1, "1234\n", "sbatch: error: x\n")).job_id, "1234");
}

TEST(Sbatch, NamesNoJobByHalfALine) {
  CommandResult late = ended(-1, "12", "");
  late.ending = Ending::kTimedOut;
  EXPECT_EQ(classify_sbatch(late).outcome, SubmitOutcome::kUnknown);
  EXPECT_EQ(classify_sbatch(ended(0, "12", "")).outcome, SubmitOutcome::kUnknown);
  EXPECT_EQ(classify_sbatch(ended(0, "0\n", "")).outcome, SubmitOutcome::kUnknown);
  EXPECT_EQ(classify_sbatch(ended(0, "", "")).message, "sbatch succeeded but printed no job id");
}

TEST(Sbatch, IsProvenToHaveBeenRefusedForTheSitesConfiguration) {
  for (const char* sentence :
       {"Invalid partition name specified",
        "Invalid account or account/partition combination specified", "Invalid qos specification",
        "Invalid feature specification", "Requested reservation is invalid",
        "Invalid license specification", "Invalid node name specified", "Job dependency problem",
        "Invalid --nice value", "Invalid Trackable RESource (TRES) specification",
        "User's group not permitted to use this partition"}) {
    const SubmitResult result = answered(sentence);
    EXPECT_EQ(result.outcome, SubmitOutcome::kRejected) << sentence;
    EXPECT_EQ(result.refusal, Refusal::kConfiguration) << sentence;
    EXPECT_EQ(result.message, std::string("Batch job submission failed: ") + sentence);
    EXPECT_EQ(result.job_id, "");
  }
}

TEST(Sbatch, IsProvenToHaveBeenRefusedForWhatTheJobAsks) {
  for (const char* sentence :
       {"Requested node configuration is not available",
        "Requested time limit is invalid (missing or exceeds some limit)",
        "More processors requested than permitted", "Node count specification invalid",
        "Pathname of a file, directory or other parameter too long"}) {
    EXPECT_EQ(answered(sentence).outcome, SubmitOutcome::kRejected) << sentence;
    EXPECT_EQ(answered(sentence).refusal, Refusal::kJob) << sentence;
  }
  EXPECT_EQ(
      failed("sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch "
             "job submission failed: Requested node configuration is not available\n")
          .message,
      "Memory specification can not be satisfied; Batch job submission failed: Requested node "
      "configuration is not available");
}

TEST(Sbatch, IsProvenToHaveBeenRefusedForNow) {
  EXPECT_EQ(answered("Required partition not available (inactive or drain)").refusal,
            Refusal::kBusy);
}

Refusal by_limit(const std::string& limit) {
  const SubmitResult result = failed(
      "sbatch: error: " + limit +
      "\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job "
      "submit limit, user's size and/or time limits)\n");
  EXPECT_EQ(result.outcome, SubmitOutcome::kRejected);
  EXPECT_THAT(result.message, HasSubstr(limit));
  return result.refusal;
}

TEST(Sbatch, TellsALimitOfTheMomentFromOneOfTheJob) {
  EXPECT_EQ(by_limit("QOSMaxSubmitJobPerUserLimit"), Refusal::kBusy);
  EXPECT_EQ(by_limit("AssocMaxSubmitJobLimit"), Refusal::kBusy);
  EXPECT_EQ(by_limit("AssocGrpSubmitJobsLimit"), Refusal::kBusy);
  EXPECT_EQ(by_limit("QOSMaxGRESPerJob"), Refusal::kJob);
  EXPECT_EQ(by_limit("QOSMaxWallDurationPerJobLimit"), Refusal::kJob);
  EXPECT_EQ(by_limit("AssocSomethingNew"), Refusal::kBusy);
}

TEST(Sbatch, IsProvenToHaveAskedNobody) {
  for (const auto& [code, error] : std::vector<std::pair<int, std::string>>{
           {255, "sbatch: unrecognized option '--nosuch'\nTry \"sbatch --help\" for more\n"},
           {255, "sbatch: error: Invalid --time specification\n"},
           {255, "sbatch: error: Maximum node count 50 is less than minimum node count 100\n"},
           {1, "sbatch: error: Invalid generic resource (gres) specification\n"},
           {1, "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.\n"},
           {1, "sbatch: error: Unable to open file /nonexistent/file\n"},
           {1,
            "sbatch: error: This does not look like a batch script.  The first\nsbatch: error: "
            "line must start with #! followed by the path to an interpreter.\n"},
           {1, "sbatch: error: Batch script is empty!\n"},
           {1, "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\n"},
           {1,
            "sbatch: error: ClusterName needs to be specified\nsbatch: fatal: Unable to process "
            "configuration file\n"},
           {1,
            "sbatch: error: fetch_config: DNS SRV lookup failed\nsbatch: fatal: Could not "
            "establish a configuration source\n"},
           {1,
            "sbatch: error: Munge encode failed: Failed to access \"/run/munge/munge.socket\"\n"
            "sbatch: error: slurm_send_node_msg: auth_g_create: REQUEST_SUBMIT_BATCH_JOB has "
            "authentication error\nsbatch: error: Batch job submission failed: Protocol "
            "authentication error\n"}}) {
    EXPECT_EQ(failed(error, code).outcome, SubmitOutcome::kRejected) << error;
    EXPECT_EQ(failed(error, code).refusal, Refusal::kConfiguration) << error;
  }
  const SubmitResult missing = classify_sbatch({.why = "cannot start sbatch: No such file"});
  EXPECT_EQ(missing.outcome, SubmitOutcome::kRejected);
  EXPECT_EQ(missing.message, "cannot start sbatch: No such file");
}

// Each of these was followed by a job that was there all the same, or may be.
TEST(Sbatch, ProvesNothingElse) {
  for (const char* sentence :
       {"Socket timed out on send/recv operation",
        "Unable to contact slurm controller (connect failure)",
        "Unable to contact slurm controller (receive failure)",
        "Zero Bytes were transmitted or received", "Resource temporarily unavailable",
        "Protocol authentication error", "Some sentence of a later release"}) {
    EXPECT_EQ(answered(sentence).outcome, SubmitOutcome::kUnknown) << sentence;
    EXPECT_EQ(answered(sentence).refusal, Refusal::kNone) << sentence;
    EXPECT_THAT(answered(sentence).message, HasSubstr(sentence));
  }
  EXPECT_EQ(failed("ssh: connection lost\n", 255).outcome, SubmitOutcome::kUnknown);
  EXPECT_EQ(failed("", 1).message, "sbatch ended with 1");
  EXPECT_EQ(failed("sbatch: error: Invalid --time specification\n", 0).outcome,
            SubmitOutcome::kUnknown);
}

TEST(Sbatch, ProvesNothingWhenItWasKilled) {
  CommandResult late = ended(
      -1, "", "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying\n");
  late.ending = Ending::kTimedOut;
  late.why = "sbatch did not end within 25.0 s";
  EXPECT_EQ(classify_sbatch(late).outcome, SubmitOutcome::kUnknown);
  EXPECT_EQ(
      classify_sbatch(late).message,
      "sbatch did not end within 25.0 s: Slurm temporarily unable to accept job, sleeping and "
      "retrying");
  CommandResult killed = ended(-1, "",
                               "sbatch: error: Batch job submission failed: Invalid "
                               "partition name specified\n");
  killed.signal = 9;
  EXPECT_EQ(classify_sbatch(killed).outcome, SubmitOutcome::kUnknown);
}

JobRequest small_request() {
  return {.name = "margay-lab-1-a1",
          .comment = "{\"item\": 1}",
          .script = "#!/bin/bash\n",
          .directory = "/data/my work",
          .output_path = "/data/out",
          .hold = true};
}

TEST(SbatchArguments, SayWhatIsMargaysOwn) {
  EXPECT_THAT(sbatch_arguments(small_request(), "/data/my work"),
              ElementsAre("--parsable", "--job-name=margay-lab-1-a1", "--output=/data/out",
                          "--dependency=singleton", "--no-requeue", "--export=ALL",
                          "--chdir=/data/my work", "--comment={\"item\": 1}", "--hold"));
}

TEST(SbatchArguments, SayNothingThatWasNotAskedFor) {
  JobRequest request = small_request();
  request.comment = "";
  request.hold = false;
  EXPECT_THAT(sbatch_arguments(request, ""),
              ElementsAre("--parsable", "--job-name=margay-lab-1-a1", "--output=/data/out",
                          "--dependency=singleton", "--no-requeue", "--export=ALL"));
}

TEST(SbatchArguments, MeanThePathOfTheOutputAsItStands) {
  JobRequest request = small_request();
  request.output_path = "/data/50%j";
  EXPECT_THAT(sbatch_arguments(request, ""), Contains("--output=/data/50%%j"));
  // Slurm 22.05: with a backslash anywhere, '%' means nothing.
  request.output_path = "/data/a\\b%j";
  EXPECT_THAT(sbatch_arguments(request, ""), Contains("--output=/data/a\\\\b%j"));
}

TEST(Scancel, TellsThatThereIsNothingLeft) {
  const auto answer = [](int code, const std::string& error) {
    return classify_scancel(ended(code, "", error));
  };
  EXPECT_EQ(answer(0,
                   "scancel: Terminating job 999999\nscancel: error: Kill job error on job id "
                   "999999: Invalid job id specified\n"),
            CancelAnswer::kGone);
  EXPECT_EQ(answer(1, "scancel: error: Invalid job id abc\n"), CancelAnswer::kGone);
  EXPECT_EQ(answer(0, "scancel: Terminating job 7\n"), CancelAnswer::kAsked);
  EXPECT_EQ(answer(0,
                   "scancel: Terminating job 7\nscancel: error: Kill job error on job id 7: "
                   "Job/step already completing or completed\n"),
            CancelAnswer::kAsked);
  EXPECT_EQ(answer(210, "scancel: error: Kill job error on job id 44: Access/permission denied\n"),
            CancelAnswer::kFailed);
  EXPECT_EQ(answer(140,
                   "scancel: error: Kill job error on job id 99: Socket timed out on send/recv "
                   "operation\n"),
            CancelAnswer::kFailed);
}

TEST(Complaints, AreOneLineInTheCommandsOwnWords) {
  EXPECT_EQ(complaint_of(ended(1, "",
                               "slurm_load_jobs error: Unable to contact slurm controller "
                               "(connect failure)\n")),
            "slurm_load_jobs error: Unable to contact slurm controller (connect failure)");
  EXPECT_EQ(complaint_of(ended(1, "", "squeue: error: one\nsqueue: fatal: two\n")), "one; two");
}

TEST(TestOnly, AnswersInSlurmsWords) {
  EXPECT_EQ(
      words_of(ended(0, "",
                     "sbatch: Job 38 to start at 2026-11-23T02:39:53 using 2 processors "
                     "on nodes n[01-02] in partition main\n")),
      "Job 38 to start at 2026-11-23T02:39:53 using 2 processors on nodes n[01-02] in partition "
      "main");
  EXPECT_EQ(words_of(ended(1, "",
                           "sbatch: error: invalid partition specified: nosuch\nallocation "
                           "failure: Invalid partition name specified\n")),
            "invalid partition specified: nosuch\nallocation failure: Invalid partition name "
            "specified");
}

}  // namespace
}  // namespace slurm
