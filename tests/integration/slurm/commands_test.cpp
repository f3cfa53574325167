// The transport by Slurm's commands on a real Slurm, beyond what every cluster does alike: its
// commands' answers when things go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "slurm/commands/cli_cluster.h"
#include "tests/integration/slurm/site_commands.h"
#include "tests/integration/slurm/testbed.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using slurm::JobRequest;
using slurm::JobState;
using slurm::JobStatus;
using slurm::SubmitOutcome;
using slurm::SubmitResult;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// One bed for the whole program.
class Commands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (SlurmBed::missing().empty()) {
      bed_ = new SlurmBed({.nodes = 2, .min_job_age = 2, .rest = "unix"});
    }
  }
  static void TearDownTestSuite() {
    delete bed_;
    bed_ = nullptr;
  }

  void SetUp() override {
    if (bed_ == nullptr) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    const fs::path commands = bed_->files() + "/commands";
    const fs::path scratch = bed_->files() + "/scratch";
    write_commands(*bed_, commands);
    fs::create_directories(scratch);
    give_file(scratch, bed_->user());
    options_.commands = commands;
    options_.scratch = scratch;
    options_.name_prefix = "margay-lab-";
    options_.poll = milliseconds(10);
    options_.requests_per_minute = 100'000;
    cluster_ = slurm::make_cli_cluster(options_);
  }
  void TearDown() override {
    cluster_.reset();
    if (bed_ != nullptr) bed_->run({"scancel", "--user=" + bed_->user()});
  }

  JobRequest request(const std::string& name, const std::string& options,
                     const std::string& then = "true") const {
    return {.name = "margay-lab-" + name,
            .comment = "{\"lab\": 1}",
            .script = "#!/bin/bash\n#SBATCH --time=10" + options + "\n" + then + "\n",
            .directory = bed_->files(),
            .output_path = bed_->files() + "/" + name + ".log"};
  }

  // "job: ...", "configuration: ...", "busy: ..." or how else it went.
  std::string refusal(const std::string& options) {
    const SubmitResult result = cluster_->submit(request("refused", options));
    if (result.outcome == SubmitOutcome::kAccepted) return "accepted";
    if (result.outcome == SubmitOutcome::kUnknown) return "unknown: " + result.message;
    const char* about[] = {"none: ", "job: ", "configuration: ", "busy: "};
    return about[static_cast<int>(result.refusal)] + result.message;
  }

  std::string submit(const JobRequest& wanted) {
    const SubmitResult result = cluster_->submit(wanted);
    EXPECT_EQ(result.outcome, SubmitOutcome::kAccepted) << result.message;
    return result.job_id;
  }

  std::vector<JobStatus> listed(const std::string& name) {
    slurm::Snapshot snapshot;
    EXPECT_TRUE(becomes_true([&] {
      snapshot = cluster_->states();
      return snapshot.complete && snapshot.fresh;
    })) << snapshot.problem;
    std::erase_if(snapshot.jobs,
                  [&](const JobStatus& job) { return job.name != "margay-lab-" + name; });
    return snapshot.jobs;
  }

  bool becomes(const std::string& name, JobState state) {
    return becomes_true([&] {
      const auto jobs = listed(name);
      return jobs.size() == 1 && jobs[0].state == state;
    });
  }

  static SlurmBed* bed_;
  slurm::CliClusterOptions options_;
  std::unique_ptr<slurm::Cluster> cluster_;
};

SlurmBed* Commands::bed_ = nullptr;

TEST_F(Commands, TellWhyAJobIsRefused) {
  EXPECT_THAT(refusal(" --partition=nosuch"), HasSubstr("configuration: "));
  EXPECT_THAT(refusal(" --account=nosuch"), HasSubstr("configuration: "));
  EXPECT_THAT(refusal(" --qos=nosuch"), HasSubstr("configuration: "));
  EXPECT_THAT(refusal(" --constraint=nosuch"), HasSubstr("configuration: "));
  EXPECT_THAT(refusal(" --reservation=nosuch"), HasSubstr("configuration: "));
  EXPECT_THAT(refusal(" --licenses=nosuch"),
              AllOf(HasSubstr("configuration: "), HasSubstr("Invalid license specification")));
  EXPECT_THAT(refusal(" --gres=gpu:500"), HasSubstr("job: "));
  EXPECT_THAT(refusal(" --mem=9T"), HasSubstr("job: "));
  // Some of them are in the queue and in accounting as failed, and yet were never jobs.
  EXPECT_THAT(listed("refused"), SizeIs(0));
  EXPECT_TRUE(becomes_true([&] {
    return !bed_->sacct({"--name=margay-lab-refused", "-o", "jobid"}).empty();
  }));
  const auto found = cluster_->find_by_name("margay-lab-refused");
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, SizeIs(0));
}

TEST_F(Commands, MakeTheJobAlthoughAHungControllerDidNotAnswer) {
  bed_->fault(Service::kController, Fault::kHang);
  JobRequest wanted = request("hung", "");
  wanted.hold = true;
  const SubmitResult result = cluster_->submit(wanted);
  const slurm::Snapshot snapshot = cluster_->states();
  bed_->fault(Service::kController, Fault::kUnhang);
  EXPECT_EQ(result.outcome, SubmitOutcome::kUnknown);
  EXPECT_THAT(result.message, HasSubstr("Socket timed out"));
  EXPECT_FALSE(snapshot.complete);
  EXPECT_THAT(snapshot.problem, HasSubstr("Socket timed out"));
  EXPECT_TRUE(becomes_true([&] { return listed("hung").size() == 1; }));
}

TEST_F(Commands, SayThatTheControllerIsDown) {
  bed_->fault(Service::kController, Fault::kStop);
  const SubmitResult result = cluster_->submit(request("down", ""));
  const slurm::Snapshot snapshot = cluster_->states();
  const bool released = cluster_->release("1");
  const bool gone = cluster_->cancel("1");
  const auto findings = cluster_->examine({});
  bed_->fault(Service::kController, Fault::kStart);
  EXPECT_EQ(result.outcome, SubmitOutcome::kUnknown);
  EXPECT_FALSE(snapshot.complete);
  EXPECT_THAT(snapshot.problem, HasSubstr("Unable to contact slurm controller"));
  EXPECT_FALSE(released);
  EXPECT_FALSE(gone);
  const auto bad = std::find_if(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.level == slurm::Finding::Level::kBad;
  });
  ASSERT_NE(bad, findings.end());
  EXPECT_EQ(bad->subject, "controller");
  EXPECT_THAT(listed("down"), SizeIs(0));
}

TEST_F(Commands, FollowAJobThatTheAdministratorRequeues) {
  JobRequest wanted = request("again", "", "sleep 600");
  const std::string id = submit(wanted);
  ASSERT_TRUE(becomes("again", JobState::kRunning));
  EXPECT_NE(bed_->run({"scontrol", "requeue", id}).exit_code, 0) << "it was submitted --no-requeue";
  bed_->scontrol({"update", "job=" + id, "requeue=1"});
  bed_->scontrol({"requeuehold", id});
  ASSERT_TRUE(becomes("again", JobState::kPending));
  const JobStatus job = listed("again").at(0);
  EXPECT_EQ(job.job_id, id);
  EXPECT_TRUE(job.held);
  EXPECT_TRUE(cluster_->release(id));
  EXPECT_TRUE(becomes_true([&] { return !listed("again").at(0).held; }));
}

TEST_F(Commands, FindAJobThatTheControllerHasForgotten) {
  const std::string id = submit(request("old", " --nodes=2 --gres=gpu:2", "exit 3"));
  ASSERT_TRUE(becomes_true([&] {
    const auto found = cluster_->find_by_name("margay-lab-old");
    return listed("old").empty() && found && found->size() == 1 &&
           (*found)[0].state == JobState::kFailed;
  }));
  const auto found = cluster_->find_by_name("margay-lab-old");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).job_id, id);
  EXPECT_EQ(found->at(0).exit_code, 3);
  EXPECT_EQ(found->at(0).gpus, 4);
  EXPECT_GT(found->at(0).end_time, 1'700'000'000);
  EXPECT_TRUE(cluster_->cancel(id)) << "there is nothing left to stop";
}

TEST_F(Commands, TellBySbatchWhenAJobWouldStart) {
  EXPECT_THAT(cluster_->test_only(request("maybe", " --nodes=2")),
              AllOf(HasSubstr("to start at 20"), HasSubstr("n[01-02]")));
  EXPECT_THAT(cluster_->test_only(request("maybe", " --nodes=40")),
              HasSubstr("Requested node configuration is not available"));
  EXPECT_THAT(listed("maybe"), SizeIs(0)) << "nothing is submitted";
}

TEST_F(Commands, TakeMemoryPerGpu) {
  const std::string id = submit(request("memory", " --gres=gpu:2 --mem-per-gpu=100M", "sleep 600"));
  EXPECT_THAT(bed_->scontrol({"show", "job", id}), ContainsRegex("MemPerTres=gres[:/]gpu:100"));
}

TEST_F(Commands, AnswerWithoutAccountingButDoNotTakeThatForNoJob) {
  const std::string id = submit(request("there", "", "sleep 600"));
  ASSERT_TRUE(becomes("there", JobState::kRunning));
  bed_->fault(Service::kAccounting, Fault::kStop);
  const auto found = cluster_->find_by_name("margay-lab-there");
  bed_->fault(Service::kAccounting, Fault::kStart);
  EXPECT_FALSE(found);
  EXPECT_TRUE(becomes_true([&] {
    const auto again = cluster_->find_by_name("margay-lab-there");
    return again && again->size() == 1 && again->at(0).job_id == id;
  }));
}

}  // namespace
}  // namespace tests
