// The site file that `margayd --init` writes, and what is not for --init.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Slurm's commands, which answer with what was recorded from a real site.
void make_slurm_commands(const std::string& folder) {
  std::filesystem::create_directory(folder);
  const std::string data = MARGAY_TEST_DATA "/slurm/commands/";
  for (const auto& [name, file] : {std::pair{"scontrol", "partitions.txt"},
                                   {"sinfo", "sinfo.txt"},
                                   {"squeue", "squeue_everybody.txt"}}) {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nexec cat '" << data << file << "'\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
}

Finished init(const ScratchFolder& scratch, const std::string& path,
              const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {MARGAY_BIN_DIR "/margayd", "--init"};
  command.insert(command.end(), more.begin(), more.end());
  return run_program(command, scratch.path(), {"PATH=" + path, "HOME=" + scratch.path()});
}

TEST(Init, WritesAConfigurationForTheSlurmThatAnswers) {
  const ScratchFolder scratch;
  make_slurm_commands(scratch / "bin");
  const Finished made = init(scratch, scratch / "bin:/usr/bin:/bin", {"site.yaml"});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.output,
              AllOf(HasSubstr("site.yaml written\n- found partition 'main': 4 nodes with 16 GPUs"),
                    HasSubstr("- check it: margayd --doctor --config site.yaml")));
  EXPECT_THAT(text_of(scratch / "site.yaml"),
              AllOf(HasSubstr("\ncluster: slurm\n"), HasSubstr("\n  transport: cli\n"),
                    HasSubstr("\n  options: {partition: main, ")));
}

TEST(Init, WithoutASlurmIsForThisMachine) {
  const ScratchFolder scratch;
  const Finished made = init(scratch, scratch.path());
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.output, HasSubstr("margayd.yaml written\n- found no Slurm here"));
  EXPECT_THAT(text_of(scratch / "margayd.yaml"),
              AllOf(HasSubstr("\ncluster: local\n"), HasSubstr("\nengine: ")));
}

// Root writes it, and the service's user reads it.
TEST(Init, LeavesWhoMayReadItToTheUmask) {
  const ScratchFolder scratch;
  const mode_t before = umask(022);
  const Finished made = init(scratch, scratch.path());
  umask(before);
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_EQ(static_cast<int>(std::filesystem::status(scratch / "margayd.yaml").permissions()),
            0644);
}

TEST(Init, IsOneOfSeveralThingsThatAreDoneOneByOne) {
  const ScratchFolder scratch;
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--doctor"}, {"--backup", scratch / "copy"}}) {
    const Finished refused = init(scratch, scratch.path(), more);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.error, HasSubstr("excludes --init"));
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "margayd.yaml"));
}

TEST(Init, IsNotForACommandOfMargay) {
  const ScratchFolder scratch;
  const auto refusal = [&](const std::vector<std::string>& words) {
    std::vector<std::string> command = {MARGAY_BIN_DIR "/margayd"};
    command.insert(command.end(), words.begin(), words.end());
    const Finished refused = run_program(command, scratch.path());
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.error, HasSubstr("See 'margayd --help'."));
    return refused.error;
  };
  EXPECT_THAT(refusal({"doctor"}), HasSubstr("'doctor' is taken only with --init; commands are "
                                             "margay's: 'margay doctor'"));
  EXPECT_THAT(refusal({"enqueue", "a.mrc"}), HasSubstr("'margay enqueue'"));
  EXPECT_THAT(refusal({"/etc/site.yaml"}), HasSubstr("by '--config /etc/site.yaml'"));
}

TEST(Init, SaysWhenSlurmDoesNotAnswerAndOverwritesNothing) {
  const ScratchFolder scratch;
  make_slurm_commands(scratch / "bin");
  std::ofstream(scratch / "bin/scontrol") << "#!/bin/sh\necho 'slurmctld is down' >&2\nexit 1\n";
  const Finished made = init(scratch, scratch / "bin:/usr/bin:/bin");
  EXPECT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.output,
              AllOf(HasSubstr("Slurm's commands are here, but "), HasSubstr("slurmctld is down")));
  std::ofstream(scratch / "margayd.yaml") << "mine";
  const Finished again = init(scratch, scratch.path());
  EXPECT_EQ(again.exit_code, 78);
  EXPECT_THAT(again.error, HasSubstr("'margayd.yaml' exists"));
  EXPECT_EQ(text_of(scratch / "margayd.yaml"), "mine");
}

}  // namespace
}  // namespace tests
