// What programs print where it cannot be written: /dev/full in the place of a file on a full disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "slurm/job/job_rules.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::EndsWith;

constexpr const char* kLost = ": cannot write all of the output; is its disk full?\n";

class LostOutput : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  }
  static std::vector<std::string> shell(const std::string& command) {
    return {"/bin/sh", "-c", MARGAY_BIN_DIR "/" + command};
  }
  Finished run(const std::string& command) const {
    return run_program(shell(command), scratch_.path());
  }
  Finished run_on_full_disk(const std::string& command) const {
    return run(command + " >/dev/full");
  }

  ScratchFolder scratch_;
};

TEST_F(LostOutput, OfHelpIsAFailure) {
  const std::map<std::string, int> programs = {
      {"margayd", 1}, {"margay-engine", 64}, {"margay-job", slurm::kCannotRun}};
  for (const auto& [program, code] : programs) {
    for (const char* option : {"--help", "--version", "--man-page", "--bash-completion"}) {
      const std::string command = program + " " + option;
      EXPECT_EQ(run(command).exit_code, 0) << command;
      const Finished full = run_on_full_disk(command);
      EXPECT_EQ(full.exit_code, code) << command;
      EXPECT_EQ(full.error, program + kLost) << command;
    }
  }
}

TEST_F(LostOutput, OfTheEnginesCommandsIsAFailure) {
  for (const char* command : {"margay-engine match --help", "margay-engine info"}) {
    EXPECT_EQ(run(command).exit_code, 0) << command;
    const Finished full = run_on_full_disk(command);
    EXPECT_EQ(full.exit_code, 64) << command;
    EXPECT_THAT(full.error, EndsWith(std::string("margay-engine") + kLost)) << command;
  }
}

TEST_F(LostOutput, OfInitIsAFailureAndItsFileIsThere) {
  const Finished full = run_on_full_disk("margayd --init site.yaml");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.error, std::string("margayd") + kLost);
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "site.yaml"));
}

TEST_F(LostOutput, OfDoctorAndBackupIsAFailureAndTheCopyIsThere) {
  QueueAtWork queue;
  queue.start_daemon();
  queue.kill_daemon(SIGTERM);
  const std::string site = " --config " + (queue.folder() / "site.yaml");
  for (const std::string& command :
       {"margayd --doctor" + site, "margayd --backup copy.db" + site}) {
    const Finished full = run_on_full_disk(command);
    EXPECT_EQ(full.exit_code, 1) << command;
    EXPECT_THAT(full.error, EndsWith(std::string("margayd") + kLost)) << command;
  }
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "copy.db"));
}

}  // namespace
}  // namespace tests
