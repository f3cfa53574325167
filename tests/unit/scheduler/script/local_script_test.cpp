// templates/local.sh, run by bash with margay-job and a stand-in for the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "scheduler/script/template_file.h"
#include "tests/scratch_folder.h"
#include "tests/unit/scheduler/script/script_process.h"

namespace scheduler {
namespace {

using testing::HasSubstr;
using testing::Not;

class LocalScriptTest : public testing::Test {
 protected:
  LocalScriptTest() {
    std::filesystem::create_directories(attempt_);
    engine("exit 0");
    folder_.write("it em/current", "1\n");
  }

  // What runs in the engine's place; its arguments go to a file, one each line.
  void engine(const std::string& body) {
    const std::string path =
        folder_.write("engine", "#!/bin/bash\nprintf '%s\\n' \"$@\" >> '" +
                                    folder_.file("arguments") + "'\n" + body + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  pid_t start(const std::map<std::string, std::string>& changed = {}) {
    std::map<std::string, std::string> values = {{"attempt_folder", attempt_},
                                                 {"attempt_number", "1"},
                                                 {"token", "margay-x-1-a1"},
                                                 {"job", MARGAY_BIN_DIR "/margay-job"},
                                                 {"engine", folder_.file("engine")},
                                                 {"threads", "2"},
                                                 {"backend", "cpu"},
                                                 {"probe", ""},
                                                 {"ranks", ""},
                                                 {"batch", ""},
                                                 {"checkpoint_every", "600000ms"},
                                                 {"resume", ""}};
    for (const auto& [name, value] : changed) values[name] = value;
    const auto text = read_template(std::string(MARGAY_SOURCE_DIR) + "/templates", "local.sh");
    const std::string script = folder_.write("job.sh", render_template(text, values));
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/bash", "bash", script.c_str(), nullptr);
      _exit(126);
    }
    return child;
  }

  int run(const std::map<std::string, std::string>& changed = {}) {
    return wait_for(start(changed));
  }

  std::string arguments() { return tests::text_of(folder_.file("arguments")); }

  tests::ScratchFolder folder_;
  const std::string item_ = folder_.file("it em");
  const std::string attempt_ = folder_.file("it em/a'1");
};

TEST_F(LocalScriptTest, TheEngineGetsItsArgumentsWhateverTheFoldersAreCalled) {
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(arguments(), "match\n" + attempt_ + "/config.yaml\n--backend\ncpu\n--threads\n2\n" +
                             "--output\n" + attempt_ + "/peaks.csv\n--checkpoint\n" + attempt_ +
                             "/checkpoint.mgc\n--checkpoint-every\n600000ms\n--progress\n" +
                             attempt_ + "/progress.json\n--attempt\nmargay-x-1-a1\n");
}

TEST_F(LocalScriptTest, OnGpusTheEngineIsTriedFirstAndStartsARankForEach) {
  EXPECT_EQ(run({{"backend", "cuda"}, {"probe", "--probe"}, {"ranks", "--nproc 2"}}), 0);
  EXPECT_THAT(
      arguments(),
      testing::AllOf(testing::StartsWith("selftest\n--backend\ncuda\n--threads\n2\nmatch\n"),
                     HasSubstr("\n--backend\ncuda\n--threads\n2\n--nproc\n2\n--output\n")));
}

TEST_F(LocalScriptTest, ResumeAndBatchAreGivenOnlyWhenThereIsOne) {
  EXPECT_EQ(run({{"resume", "/old/checkpoint.mgc"}, {"batch", "4"}}), 0);
  EXPECT_THAT(arguments(), HasSubstr("--resume\n/old/checkpoint.mgc\n--batch\n4\n"));
}

TEST_F(LocalScriptTest, TheEnginesExitCodeIsTheScripts) {
  for (const int code : {64, 70, 71, 85, 1}) {
    engine("exit " + std::to_string(code));
    std::filesystem::remove_all(attempt_ + "/claim");
    EXPECT_EQ(run(), code);
  }
}

TEST_F(LocalScriptTest, AnEngineThatIsNotThereIsExit127) {
  EXPECT_EQ(run({{"engine", "/nowhere/margay-engine"}}), 127);
}

TEST_F(LocalScriptTest, OnlyOneRunTakesTheClaim) {
  EXPECT_EQ(run(), 0);
  const std::string once = arguments();
  EXPECT_EQ(run(), 75);
  EXPECT_EQ(arguments(), once) << "the loser must not start the engine";
}

TEST_F(LocalScriptTest, TheSameJobStartedAgainTakesItsOwnClaimOver) {
  setenv("SLURM_JOB_ID", "77", 1);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(run(), 75);
  setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_EQ(run(), 0);
  setenv("SLURM_JOB_ID", "78", 1);
  setenv("SLURM_RESTART_COUNT", "9", 1);
  EXPECT_EQ(run(), 75);
  unsetenv("SLURM_JOB_ID");
  unsetenv("SLURM_RESTART_COUNT");
}

TEST_F(LocalScriptTest, AnOlderAttemptDoesNotStartOnceANewerOneHasBegun) {
  folder_.write("it em/current", "2\n");
  EXPECT_EQ(run(), 75);
  EXPECT_EQ(arguments(), "");
  folder_.write("it em/current", "1\n");
  EXPECT_EQ(run(), 0);
}

// The fence is a pipe here, so that the test gives the answer to each look at it.
TEST_F(LocalScriptTest, AnOlderAttemptDoesNotStartWhenANewerOneBeginsWhileItTakesItsClaim) {
  const std::string fence = item_ + "/current";
  std::filesystem::remove(fence);
  ASSERT_EQ(mkfifo(fence.c_str(), 0600), 0);
  const pid_t script = start();
  std::ofstream(fence) << "1\n";
  wait_for_file(folder_.file("it em/a'1/claim"));
  std::ofstream(fence) << "2\n";
  EXPECT_EQ(wait_for(script), 75);
  EXPECT_EQ(arguments(), "");
  EXPECT_FALSE(std::filesystem::exists(attempt_ + "/claim"));
}

TEST_F(LocalScriptTest, ItsOwnCheckpointGoesBeforeAnOlderOne) {
  std::ofstream(attempt_ + "/checkpoint.mgc") << "units";
  EXPECT_EQ(run({{"resume", "/old/checkpoint.mgc"}}), 0);
  EXPECT_THAT(arguments(), HasSubstr("--resume\n" + attempt_ + "/checkpoint.mgc\n"));
  EXPECT_THAT(arguments(), Not(HasSubstr("/old/")));
}

TEST_F(LocalScriptTest, ASignalReachesTheEngineAndItsAnswerIsWaitedFor) {
  for (const int number : {SIGTERM, SIGUSR1}) {
    std::filesystem::remove_all(attempt_ + "/claim");
    std::filesystem::remove(folder_.file("ready"));
    engine("trap 'sleep 0.2; exit 85' TERM USR1\ntouch '" + folder_.file("ready") +
           "'\nwhile :; do sleep 0.05; done");
    const pid_t script = start();
    wait_for_file(folder_.file("ready"));
    kill(script, number);
    EXPECT_EQ(wait_for(script), 85);
  }
}

}  // namespace
}  // namespace scheduler
