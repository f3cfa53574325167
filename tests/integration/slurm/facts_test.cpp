// The facts of a real cluster that hides the jobs of others (PrivateData), as slurmrestd and as
// Slurm's commands show them to the user whose jobs are Margay's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "scheduler/forecast/cluster_forecast.h"
#include "slurm/cluster_facts.h"
#include "slurm/commands/cli_cluster.h"
#include "slurm/rest/rest_cluster.h"
#include "tests/integration/slurm/site_commands.h"
#include "tests/integration/slurm/testbed.h"
#include "tests/require.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr int kTimeoutMs = 60'000;

// n01 and n02 with four GPUs each, n03 drained.
class FactsOnSlurm : public ::testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    bed_ = std::make_unique<SlurmBed>(
        BedOptions{.nodes = 3, .conf = {"PrivateData=jobs", "SchedulerParameters=bf_interval=2"}});
    bed_->scontrol({"update", "nodename=n03", "state=drain", "reason=fans"});
  }
  static void TearDownTestSuite() { bed_.reset(); }

  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    if (!bed_->other_user()) GTEST_SKIP() << "only root can run jobs of two users";
    prefix_ = std::string("margay-facts") + (GetParam() ? "cli" : "rest") + "-";
    folder_ = bed_->files() + "/" + prefix_;
    fs::create_directory(folder_);
    give_file(folder_, bed_->user());
    cluster_ = GetParam() ? by_commands() : by_rest();
  }
  void TearDown() override {
    if (!bed_ || !bed_->other_user()) return;
    for (const std::string& user : {bed_->user(), *bed_->other_user()}) {
      bed_->run({"scancel", "--user=" + user});
    }
  }

  std::unique_ptr<slurm::Cluster> by_rest() const {
    slurm::RestClusterOptions options;
    options.http.url = bed_->socket();
    options.token_file = bed_->token_file();
    options.name_prefix = prefix_;
    options.poll = milliseconds(10);
    options.requests_per_minute = 100'000;
    return slurm::make_rest_cluster(options);
  }
  std::unique_ptr<slurm::Cluster> by_commands() const {
    write_commands(*bed_, folder_ / "commands");
    fs::create_directory(folder_ / "scratch");
    give_file(folder_ / "scratch", bed_->user());
    slurm::CliClusterOptions options;
    options.commands = folder_ / "commands";
    options.name_prefix = prefix_;
    options.scratch = folder_ / "scratch";
    options.poll = milliseconds(10);
    options.requests_per_minute = 100'000;
    return slurm::make_cli_cluster(options);
  }

  void submit(const std::string& name, const std::string& directives) {
    const slurm::SubmitResult result =
        cluster_->submit({.name = prefix_ + name,
                          .script = "#!/bin/bash\n#SBATCH --time=10\n" + directives + "sleep 300\n",
                          .directory = folder_,
                          .output_path = folder_ / "log"});
    ASSERT_EQ(result.outcome, slurm::SubmitOutcome::kAccepted) << result.message;
  }

  // Looks until it is so.
  bool comes_to(const std::function<bool()>& condition) {
    for (int waited = 0; waited < kTimeoutMs; waited += 200) {
      cluster_->states();
      facts_ = cluster_->facts_with_limits();
      if (facts_.complete && condition()) return true;
      std::this_thread::sleep_for(milliseconds(200));
    }
    return false;
  }
  size_t unseen_gpus() const {
    size_t sum = 0;
    for (const auto& [node, use] : facts_.unseen) sum += use.gpus.size();
    return sum;
  }

  inline static std::unique_ptr<SlurmBed> bed_;
  std::string prefix_;
  fs::path folder_;
  std::unique_ptr<slurm::Cluster> cluster_;
  slurm::ClusterFacts facts_;
};

TEST_P(FactsOnSlurm, ShowOursWhatIsHiddenAndWhenSlurmExpectsAStart) {
  bed_->output_of({"sbatch", "--chdir=/tmp", "--output=/dev/null", "--nodelist=n01", "--gres=gpu:3",
                   "--time=20", "--wrap=sleep 300"},
                  *bed_->other_user());
  submit("runs", "#SBATCH --gres=gpu:1\n#SBATCH --nodelist=n01\n");
  ASSERT_TRUE(comes_to([&] { return facts_.running.size() == 1 && unseen_gpus() == 3; }))
      << facts_.problem << ": " << facts_.running.size() << " run, " << unseen_gpus()
      << " GPUs are hidden";
  submit("waits", "#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n");
  ASSERT_TRUE(comes_to([&] {
    return facts_.waiting.size() == 1 && facts_.waiting[0].expected_start > facts_.site.now;
  })) << facts_.problem;

  const slurm::QueuedJob& runs = facts_.running.at(0);
  EXPECT_EQ(runs.status.name, prefix_ + "runs");
  EXPECT_TRUE(runs.ours);
  EXPECT_EQ(runs.user, bed_->user());
  EXPECT_EQ(runs.limit_end, runs.status.start_time + 600);
  EXPECT_TRUE(facts_.waiting[0].ours);
  EXPECT_EQ(facts_.waiting[0].nodes, 2);
  EXPECT_EQ(facts_.waiting[0].status.gpus, 8);
  EXPECT_EQ(unseen_gpus(), 3U) << "the other user's";
  EXPECT_EQ(facts_.limits_problem, "");
  EXPECT_TRUE(facts_.site.qos.value->contains("normal"));
  const auto& nodes = facts_.site.nodes.value->each;
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].gpus_busy, 4);
  EXPECT_EQ(nodes[2].use, slurm::NodeUse::kDrained);
  EXPECT_EQ(nodes[2].reason, "fans");

  const scheduler::LaneForecast lane = scheduler::forecast_lane(facts_, {.partition = "main"});
  EXPECT_THAT(lane.nodes, testing::ElementsAre("n01", "n02"));
  EXPECT_EQ(scheduler::earliest_start(lane.gpus.likely, {.gpus_per_node = 4}), 0);
  const double ours = static_cast<double>(runs.limit_end - facts_.site.now);
  EXPECT_EQ(*std::min_element(lane.gpus.likely[0].begin(), lane.gpus.likely[0].end()), ours);
}

INSTANTIATE_TEST_SUITE_P(Transports, FactsOnSlurm, ::testing::Bool(), [](const auto& test) {
  return test.param ? std::string("Commands") : std::string("Rest");
});

}  // namespace
}  // namespace tests
