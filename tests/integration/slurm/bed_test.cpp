// The test bed itself: a Slurm comes up, runs a job, and goes without a trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/slurm/testbed.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

// Processes whose command line or working folder names the bed's folder.
std::vector<std::string> processes_of(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    const std::string cwd = fs::read_symlink(entry.path() / "cwd", error).string();
    const std::string command = text_of_process(entry.path() / "cmdline");
    if (cwd.find(folder) != std::string::npos || command.find(folder) != std::string::npos) {
      found.push_back(command);
    }
  }
  return found;
}

class Bed : public ::testing::TestWithParam<bool> {};

TEST_P(Bed, RunsAJobOnSeveralNodesAndGoesWithoutATrace) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  SlurmBed bed({.nodes = 4, .accounting = GetParam(), .rest = "tcp,unix,local"});
  const std::string folder = bed.folder();
  const std::string job =
      bed.sbatch({"--nodes=4", "--gres=gpu:2", "--output=" + bed.files() + "/out"},
                 "srun sh -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'");
  ASSERT_TRUE(becomes_true([&] { return bed.job_field(job, "JobState") == "COMPLETED"; }))
      << bed.job_field(job, "JobState");
  EXPECT_THAT(text_of(bed.files() + "/out"), ::testing::AllOf(::testing::HasSubstr("n01 0,1\n"),
                                                              ::testing::HasSubstr("n04 0,1\n")));
  EXPECT_EQ(bed.scontrol({"ping"}).find("DOWN"), std::string::npos);
  if (GetParam()) {
    EXPECT_TRUE(becomes_true([&] {
      return bed.sacct({"-j", job, "-o", "state"}) == "COMPLETED\n";
    }));
  }
  // One that leaves a process behind which Slurm does not know of any more.
  const std::string leaver =
      bed.sbatch({"--output=" + bed.files() + "/leaver"}, "(setsid sleep 600 &) ; echo left");
  ASSERT_TRUE(becomes_true([&] { return bed.job_field(leaver, "JobState") == "COMPLETED"; }));
  // One that does not end when it is asked to.
  bed.sbatch({"--output=" + bed.files() + "/stubborn"},
             "trap '' TERM; echo on; sleep 600; sleep 600");
  ASSERT_TRUE(becomes_true([&] { return text_of(bed.files() + "/stubborn") == "on\n"; }));
  EXPECT_FALSE(processes_of(folder).empty());
  bed.stop();
  EXPECT_TRUE(becomes_true([&] { return processes_of(folder).empty(); }))
      << ::testing::PrintToString(processes_of(folder));
  EXPECT_FALSE(fs::exists(folder));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithout, Bed, ::testing::Bool(), [](const auto& accounting) {
  return accounting.param ? "Accounting" : "NoAccounting";
});

TEST(Bed, TwoLiveSideBySideAndGoWithTheirOwner) {
  if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
  SlurmBed mine({.nodes = 1, .accounting = false});
  std::string other;
  {
    // A process that starts a bed and dies without stopping it.
    Program owner({"/bin/bash", "-c",
                   std::string("bash ") + MARGAY_SOURCE_DIR +
                       "/tests/integration/slurm/testbed start --no-accounting --nodes 1 "
                       "--owner $$ > " +
                       mine.files() + "/other && sleep 600"},
                  "/");
    ASSERT_TRUE(becomes_true([&] {
      other = text_of(mine.files() + "/other");
      return !other.empty();
    }));
    other.pop_back();
    EXPECT_TRUE(fs::exists(other));
    owner.signal(SIGKILL);
    owner.wait();
  }
  EXPECT_TRUE(becomes_true([&] { return !fs::exists(other) && processes_of(other).empty(); }));
  EXPECT_EQ(mine.scontrol({"ping"}).find("DOWN"), std::string::npos);
}

}  // namespace
}  // namespace tests
