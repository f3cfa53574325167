#include "base/run_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/descriptor.h"
#include "tests/scratch_folder.h"
#include "tests/wait_until.h"

namespace base {
namespace {

using Ending = CommandResult::Ending;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

Command shell(const std::string& script) {
  return {.program = "/bin/sh",
          .arguments = {"-c", script},
          .environment = {{"PATH", "/usr/bin:/bin"}}};
}

TEST(RunCommand, TellsBothOutputsAndTheExitCode) {
  const CommandResult result = run_command(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(result.ending, Ending::kEnded);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error, "err\n");
  EXPECT_EQ(result.why, "/bin/sh ended with 7");
  EXPECT_FALSE(result.ok());
}

TEST(RunCommand, GivesArgumentsAsTheyAreWithoutAShell) {
  const CommandResult result = run_command(
      {.program = "printf",
       .arguments = {"<%s>", "two words", "", "it's \"$HOME\" `id` \\ ; *", "line\nfeed"}});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, "<two words><><it's \"$HOME\" `id` \\ ; *><line\nfeed>");
}

TEST(RunCommand, GivesTheEnvironmentThatWasAskedForAndNoMore) {
  Command command = shell("echo $ONE; echo ${HOME-none}; pwd; cat");
  command.environment["ONE"] = "a b";
  EXPECT_EQ(run_command(command).output, "a b\nnone\n/\n");
}

TEST(RunCommand, SaysThatAMissingProgramWasNotStarted) {
  const CommandResult result = run_command({.program = "/nowhere/sbatch"});
  EXPECT_EQ(result.ending, Ending::kNotStarted);
  EXPECT_EQ(result.why, "cannot start /nowhere/sbatch: No such file or directory");
  EXPECT_EQ(run_command({.program = "no-such-program-anywhere"}).ending, Ending::kNotStarted);
}

TEST(RunCommand, KeepsABigOutputToTheLastByte) {
  const CommandResult result =
      run_command(shell("head -c 3000000 /dev/zero | tr '\\0' a; head -c 200000 /dev/zero >&2"));
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output, std::string(3'000'000, 'a'));
  EXPECT_EQ(result.error.size(), 200'000U);
}

TEST(RunCommand, DropsWhatIsBeyondTheMostAndDoesNotCallItWell) {
  Command command = shell("head -c 3000000 /dev/zero");
  command.most_output = 1U << 20U;
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kEnded);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.size(), 1U << 20U);
  EXPECT_TRUE(result.cut);
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.why, HasSubstr("more than 1.0 MB"));
}

TEST(RunCommand, TellsASignal) {
  const CommandResult result = run_command(shell("kill -SEGV $$"));
  EXPECT_EQ(result.ending, Ending::kEnded);
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.ok());
}

// A file that still has a reader's lock, or a process that still writes, would be seen.
bool is_gone(const std::string& pid_file) {
  const std::string pid = tests::text_of(pid_file);
  const std::string stat = tests::text_of("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
  return stat.empty() || stat.find(") Z ") != std::string::npos;
}

TEST(RunCommand, KillsTheWholeGroupThatTakesTooLong) {
  const tests::ScratchFolder scratch;
  Command command = shell("trap '' TERM; (trap '' TERM; sleep 600) & echo $! > " + scratch / "pid" +
                          "; echo begun; wait; sleep 600");
  command.timeout = milliseconds(500);
  command.kill_wait = milliseconds(100);
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kTimedOut);
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_EQ(result.why, "/bin/sh did not end within 0.5 s");
  EXPECT_TRUE(tests::becomes_true([&] { return is_gone(scratch / "pid"); }));
}

TEST(RunCommand, LetsAProgramEndByItselfWhenItsTimeIsUp) {
  Command command = shell("trap 'echo asked; exit 3' TERM; echo begun; sleep 600 & wait");
  command.timeout = milliseconds(500);
  command.kill_wait = milliseconds(60'000);
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kTimedOut);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "begun\nasked\n");
}

TEST(RunCommand, DoesNotWaitForeverForAGrandchildThatHoldsTheOutput) {
  const tests::ScratchFolder scratch;
  Command command = shell("sleep 600 & echo $! > " + scratch / "pid" + "; echo 123");
  command.timeout = milliseconds(500);
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kTimedOut);
  EXPECT_EQ(result.output, "123\n");
  EXPECT_TRUE(tests::becomes_true([&] { return is_gone(scratch / "pid"); }));
}

TEST(RunCommand, KillsAProgramThatTakesTooMuchMemory) {
  Command command = shell("a=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 600");
  command.timeout = milliseconds(60'000);
  command.most_memory = 64U << 20U;
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kTimedOut);
  EXPECT_EQ(result.why, "/bin/sh took more than 67.1 MB of memory");
}

TEST(RunCommand, StopsAProgramThatNobodyWaitsFor) {
  Command command = shell("sleep 600");
  int looks = 0;
  command.look = [&looks] { return ++looks < 3; };
  const CommandResult result = run_command(command);
  EXPECT_EQ(result.ending, Ending::kTimedOut);
  EXPECT_EQ(result.why, "/bin/sh was stopped");
}

TEST(RunCommand, GivesAnOpenFileAsStandardInput) {
  const tests::ScratchFolder scratch;
  scratch.write("in", "what is in it");
  const base::Descriptor file(::open((scratch / "in").c_str(), O_RDONLY | O_CLOEXEC));
  Command command = shell("cat; cat /dev/stdin");
  command.input = file.get();
  EXPECT_EQ(run_command(command).output, "what is in itwhat is in it") << "also opened anew";
}

TEST(RunCommand, LeavesNoOpenFileToTheProgram) {
  const tests::ScratchFolder scratch;
  const std::ofstream open(scratch / "open");
  EXPECT_EQ(run_command(shell("ls /proc/self/fd | tr '\\n' ' '")).output, "0 1 2 3 ");
}

}  // namespace
}  // namespace base
