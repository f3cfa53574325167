// `margay-engine scale` in an allocation of several nodes of a real Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/integration/slurm/slurm_queue.h"
#include "tests/integration/small_search.h"
#include "tests/require.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

struct Ended {
  std::string state;
  std::string code;  // "64:0"
  std::string said;
};

bool in_another_debian() { return std::getenv("MARGAY_SLURM_ROOT") != nullptr; }

class SlurmScale : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty() || in_another_debian()) return;
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 2, .gpus = 0, .accounting = false});
    engine_ = bed_->files() + "/margay-engine";  // a copy that the jobs' user may run
    fs::copy_file(engine_program(), engine_);
  }
  static void TearDownTestSuite() { bed_.reset(); }

  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    if (in_another_debian()) GTEST_SKIP() << "this engine's libraries are not in another Debian";
    ASSERT_TRUE(bed_) << "there is no bed";
    search_.sections["orientation_search_config"] = "{psi_step: 20, theta_step: 20, symmetry: C1}";
    search_.write_config();
    // Every task records where it runs before it becomes the engine.
    std::ofstream(search_.file("prolog")) << "#!/bin/sh\necho \"$SLURM_STEP_NUM_TASKS "
                                             "$SLURM_PROCID $SLURMD_NODENAME\" >> "
                                          << search_.file("ranks") << "\n";
    fs::permissions(search_.file("prolog"), fs::perms(0755));
    give_file(search_.folder(), bed_->user());
  }

  std::string submit(const std::string& command) const {
    return bed_->sbatch({"--nodes=2", "--ntasks-per-node=2", "--chdir=" + search_.folder(),
                         "--output=" + search_.file("said"), "--time=5"},
                        "export SLURM_TASK_PROLOG=" + search_.file("prolog") + "\nexec " + command);
  }
  Ended end_of(const std::string& job) const {
    std::string state;
    EXPECT_TRUE(SlurmQueue::becomes_true([&] {
      state = bed_->job_field(job, "JobState");
      return state != "PENDING" && state != "RUNNING" && state != "COMPLETING";
    })) << state;
    return {state, bed_->job_field(job, "ExitCode"), text_of(search_.file("said"))};
  }

  // For each number of ranks its tasks and their nodes, in order.
  std::map<int, std::set<std::string>> ranks() const {
    std::map<int, std::set<std::string>> found;
    std::istringstream lines(text_of(search_.file("ranks")));
    int ranks = 0;
    std::string task, node;
    while (lines >> ranks >> task >> node) found[ranks].insert(task + " " + node);
    return found;
  }
  void expect_no_scratch() const {
    for (const auto& [path, bytes] : search_.contents()) {
      EXPECT_EQ(path.find("margay-scale"), std::string::npos) << path;
    }
  }

  static std::unique_ptr<SlurmBed> bed_;
  static std::string engine_;
  SmallSearch search_;
};

std::unique_ptr<SlurmBed> SlurmScale::bed_;
std::string SlurmScale::engine_;

TEST_F(SlurmScale, EveryNumberOfRanksIsAStepThatFillsOneNodeAfterTheOther) {
  const Ended end =
      end_of(submit(engine_ + " scale search.yaml --backend cpu --json --output table.csv "
                              "> table.json"));
  ASSERT_EQ(end.state, "COMPLETED") << end.code << "\n" << end.said;
  const json table = json::parse(text_of(search_.file("table.json")));
  ASSERT_EQ(table["rows"].size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const json& row = table["rows"][i];
    EXPECT_EQ(row["ranks"], i + 1);
    EXPECT_EQ(row["nodes"], i < 2 ? 1 : 2);
    const auto counts = row["correlations_of_ranks"].get<std::vector<int64_t>>();
    EXPECT_EQ(counts.size(), i + 1);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}),
              table["correlations"].get<int64_t>());
  }
  const std::string csv = text_of(search_.file("table.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5) << csv;
  EXPECT_THAT(csv, AllOf(HasSubstr("ranks,nodes,"), HasSubstr("\n4,2,1,")));
  const std::map<int, std::set<std::string>> expected = {{1, {"0 n01"}},
                                                         {2, {"0 n01", "1 n01"}},
                                                         {3, {"0 n01", "1 n01", "2 n02"}},
                                                         {4, {"0 n01", "1 n01", "2 n02", "3 n02"}}};
  EXPECT_EQ(ranks(), expected);
  expect_no_scratch();
}

TEST_F(SlurmScale, AStepThatFailsIsShownWithWhatItSaidAndItsExitCode) {
  fs::remove(search_.file("template.mrc"));
  const Ended end = end_of(submit(engine_ + " scale search.yaml --backend cpu --nproc 2"));
  EXPECT_EQ(end.state, "FAILED");
  EXPECT_EQ(end.code, "64:0");
  EXPECT_THAT(end.said, AllOf(HasSubstr("0: margay-engine: "), HasSubstr("template.mrc"),
                              HasSubstr("the step of 1 rank on 1 node ended with exit code 64")));
  expect_no_scratch();
}

TEST_F(SlurmScale, SigtermEndsTheStep) {
  const std::string job = submit(engine_ + " scale --backend cpu --nproc 2");
  ASSERT_TRUE(SlurmQueue::becomes_true([&] { return !ranks().empty(); }));
  bed_->output_of({"scancel", "--batch", "--signal=TERM", job});
  const Ended end = end_of(job);
  EXPECT_EQ(end.code, "85:0") << end.said;
  EXPECT_THAT(end.said, HasSubstr("stopped on request"));
  EXPECT_TRUE(SlurmQueue::becomes_true([&] {
    return bed_->output_of({"squeue", "-h", "--steps"}).empty();
  }));
  expect_no_scratch();
}

TEST_F(SlurmScale, AsSeveralTasksItIsRefusedWithWhatToDo) {
  const Ended end = end_of(submit("srun --ntasks=2 " + engine_ + " scale --backend cpu"));
  EXPECT_EQ(end.code, "2:0");
  EXPECT_THAT(end.said, AllOf(HasSubstr("of 2 (Slurm)"), HasSubstr("Run it without the launcher")));
}

TEST_F(SlurmScale, MoreRanksThanTheAllocationHoldsAreRefused) {
  const Ended end = end_of(submit(engine_ + " scale --backend cpu --nproc 5"));
  EXPECT_EQ(end.code, "2:0");
  EXPECT_THAT(end.said, AllOf(HasSubstr("holds 4 ranks"), HasSubstr("--ntasks-per-node")));
}

TEST_F(SlurmScale, InAStepOfOneTaskItMeasuresTheWholeAllocation) {
  const Ended end = end_of(submit("srun --ntasks=1 --nodes=1 " + engine_ +
                                  " scale search.yaml --backend cpu --nproc 3"));
  ASSERT_EQ(end.state, "COMPLETED") << end.code << "\n" << end.said;
  EXPECT_THAT(end.said, HasSubstr("\nranks  nodes "));
  EXPECT_EQ(ranks()[3], (std::set<std::string>{"0 n01", "1 n01", "2 n02"}));
}

}  // namespace
}  // namespace tests
