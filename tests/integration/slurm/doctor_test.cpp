// What `margay doctor` finds on a real Slurm: limits of QOS and association that Slurm itself does
// not report until a job waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class DoctorOnSlurm : public ::testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    bed_ = std::make_unique<SlurmBed>(BedOptions{
        .nodes = 2,
        .conf = {"PartitionName=physics Nodes=ALL MaxTime=INFINITE AllowAccounts=physics"}});
    for (const std::vector<std::string>& change : std::vector<std::vector<std::string>>{
             {"add", "qos", "brief", "MaxWall=2", "MaxTRESPerUser=gres/gpu=3"},
             {"add", "account", "lab", "Organization=x", "MaxTRESPerJob=gres/gpu=1"},
             {"add", "user", bed_->user(), "Account=lab", "QOS=normal,brief", "MaxSubmitJobs=2"},
             {"modify", "user", bed_->user(), "set", "QOS+=brief"}}) {
      std::vector<std::string> command = {"sacctmgr", "-i"};
      command.insert(command.end(), change.begin(), change.end());
      bed_->output_of(command);
    }
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    if (GetParam() && std::getenv("MARGAY_SLURM_ROOT") != nullptr) {
      GTEST_SKIP() << "the commands of another Debian do not run as the daemon runs them";
    }
  }

  // Slurm's commands know whether Slurm applies limits; slurmrestd does not say.
  static void expect_limit(const Finished& doctor, const std::string& shape) {
    if (GetParam()) {
      EXPECT_EQ(doctor.exit_code, 1) << doctor.output;
      EXPECT_THAT(doctor.output, ContainsRegex("BAD +shape " + shape));
    } else {
      EXPECT_THAT(doctor.output, AllOf(ContainsRegex("warning +shape " + shape),
                                       HasSubstr("if Slurm applies limits")));
    }
  }

  // With these lines of the section slurm.
  Finished doctor(const std::string& slurm) {
    queue_.reset();
    queue_ = std::make_unique<SlurmQueue>(*bed_, SiteOptions{.slurm = slurm, .cli = GetParam()});
    queue_->start_daemon();
    return queue_->margay({"doctor"});
  }

  inline static std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_P(DoctorOnSlurm, AShapeThatNothingLimitsIsGood) {
  const Finished good = doctor("  options: {time: '00:10:00', mem: 4G}\n");
  EXPECT_THAT(good.output, ContainsRegex("ok +shape gpu"));
  EXPECT_THAT(good.output, ContainsRegex("ok +request of shape gpu"));
  EXPECT_THAT(good.output, Not(HasSubstr("limits of QOS")));
}

TEST_P(DoctorOnSlurm, ATimeAboveTheMaxWallOfItsQosIsBadWithBothAndTheKey) {
  const Finished bad = doctor("  options: {time: '00:10:00', qos: brief}\n");
  expect_limit(bad, "gpu");
  EXPECT_THAT(bad.output, AllOf(HasSubstr("asks for 10 min, and MaxWall of QOS 'brief' is 2 min"),
                                HasSubstr("slurm.options.time")));
}

TEST_P(DoctorOnSlurm, MoreGpusThanTheAccountGivesAJobAreBad) {
  const Finished bad = doctor("  shape: node\n  gpus_per_node: 2\n  options: {account: lab}\n");
  expect_limit(bad, "node");
  EXPECT_THAT(bad.output,
              AllOf(HasSubstr("asks for 2 GPUs a job, and MaxTRESPerJob of " + bed_->user() +
                              "'s association with account 'lab' is 1 GPU"),
                    HasSubstr("slurm.gpus_per_node")));
}

TEST_P(DoctorOnSlurm, LimitsThatOnlySlowAreWarnings) {
  const Finished slow = doctor("  options: {account: lab, qos: brief, time: '00:02:00'}\n");
  EXPECT_THAT(slow.output, ContainsRegex("ok +shape gpu"));
  EXPECT_THAT(slow.output, HasSubstr("MaxTRESPerUser of QOS 'brief' is 3 GPUs: at most 3 of its"));
  EXPECT_THAT(slow.output, HasSubstr("MaxSubmitJobs of " + bed_->user() + "'s association"));
}

TEST_P(DoctorOnSlurm, APartitionThatDoesNotAllowTheAccountIsBad) {
  const Finished bad = doctor("  options: {partition: physics, time: '00:10:00'}\n");
  EXPECT_EQ(bad.exit_code, 1) << bad.output;
  EXPECT_THAT(bad.output, AllOf(ContainsRegex("BAD +shape gpu"),
                                HasSubstr("its AllowAccounts (physics) lacks 'research'")));
}

// What `margayd --init` finds is what this Slurm has, and the doctor finds nothing bad in it but
// that the package's folder for the socket is not there.
TEST_P(DoctorOnSlurm, AConfigurationToBeginWithNamesWhatSlurmHas) {
  if (!GetParam()) GTEST_SKIP() << "it is made of what Slurm's commands say";
  const std::string file = bed_->files() + "/site.yaml";
  const Finished made = bed_->run({MARGAY_BIN_DIR "/margayd", "--init", file});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.output, ContainsRegex("found partition '[a-z]+': 2 nodes with 8 GPUs"));
  const std::string site = text_of(file);
  EXPECT_THAT(site, AllOf(HasSubstr("\ncluster: slurm\n"), HasSubstr("\n  transport: cli\n"),
                          HasSubstr("\n  gpus_per_node: 4\n")));
  const Finished doctor = bed_->run({MARGAY_BIN_DIR "/margayd", "--doctor", "--config", file});
  EXPECT_THAT(doctor.output, AllOf(ContainsRegex("ok +partition 'main': exists"),
                                   ContainsRegex("ok +shape nodes: partition 'main'")));
  std::istringstream lines(doctor.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("BAD")) {
      EXPECT_THAT(line, ContainsRegex("^BAD +socket: its folder"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByEachTransport, DoctorOnSlurm, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "Commands" : "Slurmrestd"; });

}  // namespace
}  // namespace tests
