// A job in each state that Slurm has, made for real, and what `margay show` says of it. The
// sentences stand in the test's output, in lines that begin with "says|".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The whole of `margay show`'s table of attempts, its line breaks taken out.
void report(const std::string& what, const SlurmQueue& queue, int item) {
  const nlohmann::json shown = queue.item(item);
  const std::string explanation = shown.value("explanation", "");
  std::cout << "says|" << what << "|" << shown.at("state").get<std::string>() << "|" << explanation;
  for (const nlohmann::json& attempt : shown.at("attempts")) {
    std::cout << "|" << attempt.at("state").get<std::string>() << " " << attempt.value("cause", "")
              << ": " << attempt.value("message", "") << " (" << attempt.value("cluster_words", "")
              << " " << attempt.value("cluster_reason", "") << ": "
              << attempt.value("cluster_meaning", "") << "), requeued "
              << attempt.at("restarts").get<int>();
  }
  std::cout << std::endl;
}

void run(const std::vector<std::string>& command) {
  const Finished finished = run_program(command, "/");
  if (finished.exit_code != 0) throw std::runtime_error(command.front() + ": " + finished.error);
}

// True when a process runs that has this word among its arguments.
bool runs_with(const std::string& word) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string line = text_of_process(entry.path() / "cmdline");
    if (line.find(word) != std::string::npos) return true;
  }
  return false;
}

class EveryState : public ::testing::Test {
 protected:
  static constexpr int kNodes = 6;

  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    // A job completes as long as this file is there.
    keep_completing_ = scratch_ / "keep-completing";
    epilog_ = scratch_.write(
        "epilog", "#!/bin/bash\nwhile [ -e '" + keep_completing_ + "' ]; do sleep 0.1; done\n");
    fs::permissions(scratch_.path(), fs::perms::others_exec | fs::perms::others_read,
                    fs::perm_options::add);
    fs::permissions(epilog_, fs::perms::others_exec | fs::perms::owner_exec, fs::perm_options::add);
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = kNodes, .conf = {"Epilog=" + epilog_}});
  }
  static void TearDownTestSuite() {
    fs::remove(keep_completing_);
    bed_.reset();
  }
  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    // A test that takes every node would wait for one that the controller takes for down.
    ASSERT_TRUE(becomes_true([] { return nodes_that_are_not_idle().empty(); }))
        << nodes_that_are_not_idle();
    queue_ = std::make_unique<SlurmQueue>(
        *bed_, SiteOptions{.slurm = "  urgent_shape: nodes\n  nodes: 5\n"});
    queue_->let_searches_wait();
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    fs::remove(keep_completing_);
    if (HasFailure() && queue_) {
      std::cout << queue_->kill_daemon(SIGKILL).error << nodes_that_are_not_idle()
                << bed_->run({"squeue", "--long"}).output;
    }
    queue_.reset();
    if (bed_) {
      EXPECT_TRUE(becomes_true([] {
        return bed_->squeue({"-t", "pending,running,completing"}).empty();
      }));
    }
  }

  // State, name and reason of each node that is not idle, or why they are not known.
  static std::string nodes_that_are_not_idle() {
    const Finished listed = bed_->run({"sinfo", "-h", "-N", "-p", "main", "-o", "%T %N: %E"});
    std::istringstream nodes(listed.output);
    std::string others = listed.error;
    int count = 0;
    for (std::string node; std::getline(nodes, node); ++count) {
      if (!node.starts_with("idle ")) others += node + "\n";
    }
    return count == kNodes ? others : others + std::to_string(count) + " nodes are listed\n";
  }
  // Takes every core of every node.
  static std::string fill_all_nodes() {
    const std::string job = bed_->sbatch(
        {"--nodes=" + std::to_string(kNodes), "--exclusive", "--output=/dev/null"}, "sleep 600");
    EXPECT_TRUE(becomes_true([&] { return bed_->job_field(job, "JobState") == "RUNNING"; }));
    return job;
  }
  void expect_waits(const std::string& what, int item, const std::string& reason) {
    EXPECT_TRUE(queue_->waits_for(item, reason)) << queue_->reason_of(item);
    EXPECT_EQ(queue_->attempt_state(item), "PENDING");
    EXPECT_THAT(queue_->shown(item), HasSubstr(reason));
    report(what, *queue_, item);
  }
  nlohmann::json first_attempt(int item) const { return queue_->item(item).at("attempts").at(0); }
  void expect_first(const std::string& what, int item, const std::string& state,
                    const std::string& cause) {
    EXPECT_TRUE(becomes_true([&] { return first_attempt(item).at("state") == state; }))
        << first_attempt(item).dump(1);
    EXPECT_EQ(first_attempt(item).at("cause"), cause);
    report(what, *queue_, item);
  }
  int running_item(const std::vector<std::string>& options = {}) {
    const int item = queue_->enqueue(options);
    EXPECT_TRUE(queue_->comes_to(item, "RUNNING")) << queue_->shown(item);
    EXPECT_TRUE(becomes_true([&] { return queue_->effects("started").contains(item); }));
    return item;
  }

  inline static const ScratchFolder scratch_{std::filesystem::temp_directory_path()};
  inline static std::string keep_completing_, epilog_;
  inline static std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_F(EveryState, AJobWaitsForResourcesAndTheNextBehindIt) {
  const std::string blocker = fill_all_nodes();
  const int first = queue_->enqueue();
  expect_waits("pending: Resources", first, "Resources");
  const int second = queue_->enqueue();
  expect_waits("pending: Priority", second, "Priority");
  bed_->scontrol({"update", "JobId=" + queue_->job_of(second), "Dependency=afterok:" + blocker});
  expect_waits("pending: Dependency", second, "Dependency");
}

TEST_F(EveryState, AJobIsHeldByItsUserAndByTheAdministrator) {
  fill_all_nodes();
  const int item = queue_->enqueue();
  ASSERT_TRUE(queue_->comes_to(item, "PENDING"));
  const std::string job = queue_->job_of(item);
  if (bed_->other_user()) {
    bed_->output_of({"scontrol", "hold", job}, bed_->user());
    expect_waits("pending: held by its user", item, "JobHeldUser");
    bed_->output_of({"scontrol", "release", job}, bed_->user());
  }
  bed_->scontrol({"hold", job});
  expect_waits("pending: held by the administrator", item, "JobHeldAdmin");
}

TEST_F(EveryState, AJobWaitsForANodeThatIsNotThere) {
  bed_->scontrol({"update", "NodeName=n04", "State=DRAIN", "Reason=test"});
  const int item = queue_->enqueue({"--sbatch", "nodelist=n04"});
  expect_waits("pending: ReqNodeNotAvail", item, "ReqNodeNotAvail");
  bed_->scontrol({"update", "NodeName=n04", "State=RESUME"});
}

TEST_F(EveryState, AJobWaitsForAPartitionThatIsDownOrTooSmall) {
  const int down = queue_->enqueue({"--partition", "closed"});
  expect_waits("pending: PartitionDown", down, "PartitionDown");
  const int too_long = queue_->enqueue({"--partition", "short", "--time", "10"});
  expect_waits("pending: PartitionTimeLimit", too_long, "PartitionTimeLimit");
  const int too_wide =
      queue_->enqueue({"--partition", "short", "--time", "2", "--priority", "urgent"});
  expect_waits("pending: PartitionNodeLimit", too_wide, "PartitionNodeLimit");
}

TEST_F(EveryState, AJobWaitsForALimitOfItsQosOrItsAccount) {
  bed_->output_of({"sacctmgr", "-i", "modify", "qos", "low", "set", "MaxJobsPerUser=1"});
  running_item({"--qos", "low"});
  expect_waits("pending: QOSMaxJobsPerUserLimit", queue_->enqueue({"--qos", "low"}),
               "QOSMaxJobsPerUserLimit");
  bed_->output_of({"sacctmgr", "-i", "modify", "qos", "low", "set", "MaxJobsPerUser=-1"});
  bed_->output_of({"sacctmgr", "-i", "modify", "account", "research", "set", "GrpTRES=gres/gpu=1"});
  expect_waits("pending: AssocGrpGRES", queue_->enqueue(), "AssocGrpGRES");
  bed_->output_of(
      {"sacctmgr", "-i", "modify", "account", "research", "set", "GrpTRES=gres/gpu=-1"});
}

TEST_F(EveryState, AJobRunsCompletesAndIsDone) {
  const int item = running_item();
  report("running", *queue_, item);
  std::ofstream{keep_completing_};
  queue_->let_searches_go();
  EXPECT_TRUE(becomes_true(
      [&] { return bed_->job_field(queue_->job_of(item), "JobState") == "COMPLETING"; }));
  // The manifest is the first witness: the item is done before Slurm is.
  EXPECT_TRUE(queue_->comes_to(item, "DONE"));
  fs::remove(keep_completing_);
  EXPECT_EQ(queue_->state_of(item), "DONE");
  report("completed", *queue_, item);
}

TEST_F(EveryState, AJobThatFailedIsCompletingFirst) {
  queue_->let_search_do("exit 1");
  std::ofstream{keep_completing_};
  const int item = queue_->enqueue();
  EXPECT_TRUE(becomes_true([&] { return queue_->attempt_state(item) == "COMPLETING"; }))
      << queue_->shown(item);
  report("completing", *queue_, item);
  fs::remove(keep_completing_);
  EXPECT_TRUE(becomes_true([&] { return first_attempt(item).at("state") == "FAILED"; }));
  report("failed", *queue_, item);
}

TEST_F(EveryState, AJobRunsIntoItsTimeLimit) {
  queue_->let_search_do("trap '' USR1 TERM");
  const int item = running_item();
  bed_->scontrol({"update", "JobId=" + queue_->job_of(item), "EndTime=now+2"});
  expect_first("time limit", item, "FAILED", "timeout");
}

TEST_F(EveryState, AJobIsCancelledBySomebodyElse) {
  queue_->let_search_do("trap 'exit 1' TERM");
  const int item = running_item();
  bed_->output_of({"scancel", queue_->job_of(item)});
  expect_first("cancelled by somebody else", item, "CANCELLED", "cancelled_outside");
}

TEST_F(EveryState, AJobIsPreempted) {
  const int item = running_item({"--qos", "low"});
  const std::string other = bed_->sbatch(
      {"--qos=high", "--nodes=" + std::to_string(kNodes), "--exclusive", "--output=/dev/null"},
      "sleep 3");
  expect_first("preempted", item, "FAILED", "preempted");
  queue_->let_searches_go();
  EXPECT_TRUE(becomes_true([&] { return queue_->state_of(item) == "DONE"; }));
  EXPECT_EQ(queue_->effects("finished").at(item), 1);
}

TEST_F(EveryState, TheAdministratorRequeuesAJobUnderTheSameId) {
  const int item = running_item();
  const std::string job = queue_->job_of(item);
  bed_->scontrol({"update", "JobId=" + job, "Requeue=1"});
  bed_->scontrol({"requeue", job});
  expect_waits("pending: BeginTime, after a requeue", item, "BeginTime");
  queue_->let_searches_go();
  EXPECT_TRUE(becomes_true([&] { return queue_->state_of(item) == "DONE"; }));
  EXPECT_EQ(first_attempt(item).at("job_id"), job);
  EXPECT_EQ(first_attempt(item).at("restarts"), 1);
  EXPECT_EQ(queue_->effects("finished").at(item), 1);
  report("requeued under the same id", *queue_, item);
}

TEST_F(EveryState, AnAcknowledgedJobVanishesWithTheController) {
  fill_all_nodes();
  // slurmctld saves its state some seconds after a change: here what it saved before the job.
  const std::string state = bed_->folder() + "/state";
  bed_->fault(Service::kController, Fault::kStop);
  run({"/bin/cp", "-a", state, state + "-before"});
  bed_->fault(Service::kController, Fault::kStart);
  const int item = queue_->enqueue();
  ASSERT_TRUE(queue_->comes_to(item, "PENDING"));
  const std::string job = queue_->job_of(item);
  bed_->fault(Service::kController, Fault::kKill);
  fs::remove_all(state);
  fs::rename(state + "-before", state);
  bed_->fault(Service::kController, Fault::kStart);
  ASSERT_EQ(bed_->job_field(job, "JobState"), "");
  expect_first("vanished", item, "LOST", "vanished");
}

// A bed of its own: where silent nodes are soon down, a busy machine takes nodes from other tests.
TEST(AJobOnOneNode, EndsWithTheNode) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  SlurmBed bed({.nodes = 2, .slurmd_timeout = 6});
  SlurmQueue queue(bed);
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  const int item = queue.enqueue();
  ASSERT_TRUE(becomes_true([&] { return queue.effects("started").contains(item); }));
  const auto first_attempt = [&] { return queue.item(item).at("attempts").at(0); };
  const std::string node = bed.job_field(queue.job_of(item), "NodeList");
  bed.node(node, Fault::kKill);
  ASSERT_TRUE(becomes_true([&] { return first_attempt().at("state") == "FAILED"; }))
      << queue.shown(item);
  EXPECT_EQ(first_attempt().at("cause"), "node_failed");
  report("node failure", queue, item);
  bed.node(node, Fault::kStart);
  // The node was only taken for dead: its search is stopped by Slurm, or by the fence.
  const std::string token = first_attempt().at("token");
  EXPECT_TRUE(becomes_true([&] { return !runs_with(token); }));
  queue.let_searches_go();
  EXPECT_TRUE(becomes_true([&] { return queue.state_of(item) == "DONE"; })) << queue.shown(item);
  EXPECT_EQ(queue.effects("finished").at(item), 1);
}

// A job of a daemon that is not there ends, and is purged before the daemon is there again.
void expect_after_purge(const BedOptions& options, const std::string& what,
                        const std::string& state, const std::string& cause) {
  SlurmBed bed(options);
  SlurmQueue queue(bed);
  queue.start_daemon();
  queue.add_template();
  queue.let_search_do("until [ -e \"$home/go\" ]; do sleep 0.1; done; exit 1");
  const int item = queue.enqueue();
  ASSERT_TRUE(queue.comes_to(item, "RUNNING"));
  const std::string job = queue.job_of(item);
  queue.kill_daemon(SIGKILL);
  queue.let_searches_go();
  ASSERT_TRUE(tests::becomes_true([&] { return bed.job_field(job, "JobState").empty(); },
                                  std::chrono::seconds(240)));
  queue.start_daemon();
  EXPECT_TRUE(becomes_true([&] {
    return queue.item(item).at("attempts").at(0).at("state") == state;
  })) << queue.shown(item);
  EXPECT_EQ(queue.item(item).at("attempts").at(0).at("cause"), cause);
  report(what, queue, item);
}

TEST(PurgedJob, IsKnownToAccounting) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  expect_after_purge({.nodes = 1, .min_job_age = 2}, "purged, with accounting", "FAILED",
                     "unknown");
}

TEST(PurgedJob, IsLostWithoutAccounting) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  expect_after_purge({.nodes = 1, .accounting = false, .min_job_age = 2},
                     "purged, without accounting", "LOST", "vanished");
}

// Slurm reports the end of the engine's step to srun alone, and the end of the script as the state
// of the job.
TEST(OutOfMemory, IsSaidOfTheStepAndOfTheScript) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  if (!SlurmBed::can_limit_memory()) {
    GTEST_SKIP() << "memory limits need root and the memory controller of cgroup v1";
  }
  const std::string eat = "x=$(base64 /dev/zero | head -c 400M)";
  SlurmBed bed({.nodes = 1, .memory_limits = true});
  for (const bool in_step : {true, false}) {
    SlurmQueue queue(bed, {.slurm = in_step ? "" : "  setup: [\"" + eat + "\"]\n"});
    queue.start_daemon();
    queue.add_template();
    if (in_step) queue.let_search_do(eat);
    const int item = queue.enqueue({"--mem", "50M"});
    EXPECT_TRUE(becomes_true([&] {
      const nlohmann::json attempts = queue.item(item).at("attempts");
      return !attempts.empty() && attempts.at(0).at("state") == "FAILED";
    })) << queue.shown(item);
    report(in_step ? "out of memory, the engine" : "out of memory, the script", queue, item);
    if (!in_step) {
      EXPECT_EQ(queue.item(item).at("attempts").at(0).at("cluster_words"), "OUT_OF_MEMORY");
    }
  }
}

TEST_F(EveryState, AWideJobIsHeldUntilItsIdIsStored) {
  ASSERT_EQ(queue_->kill_daemon(SIGTERM).exit_code, 0);
  queue_->configure(site_lines(*bed_, {.slurm = "  shape: nodes\n  nodes: 2\n"}));
  queue_->start_daemon("before-release");
  queue_->margay(queue_->enqueue_command(queue_->make_micrograph("wide.mrc")));
  ASSERT_TRUE(queue_->daemon_ends());
  bed_->fault(Service::kRest, Fault::kKill);
  queue_->start_daemon();
  EXPECT_EQ(queue_->attempt_state(1), "PENDING");
  report("held by us", *queue_, 1);
  EXPECT_EQ(bed_->job_field(queue_->job_of(1), "Priority"), "0");
  bed_->fault(Service::kRest, Fault::kStart);
  queue_->let_searches_go();
  EXPECT_TRUE(becomes_true([&] { return queue_->state_of(1) == "DONE"; }));
  EXPECT_EQ(queue_->effects("finished").at(1), 1);
}

}  // namespace
}  // namespace tests
