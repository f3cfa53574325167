// The program itself: its command line, and what it needs on a node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/program.h"
#include "tests/scratch_folder.h"

namespace tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kProgram = MARGAY_BIN_DIR "/margay-job";

Finished run(std::vector<std::string> arguments) {
  const ScratchFolder folder;
  arguments.insert(arguments.begin(), kProgram);
  return run_program(arguments, folder.path(), {});
}

TEST(MargayJob, SaysWhatItIs) {
  EXPECT_THAT(run({"--version"}).output, StartsWith("margay-job "));
  EXPECT_THAT(run({"--help"}).output, AllOf(HasSubstr("margay-job run"), HasSubstr("rank")));
  EXPECT_EQ(run({"rank", "--help"}).output, run({"--help"}).output);
}

TEST(MargayJob, RefusesAWrongCommandLineWithStatus2) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"rnk"},
                                                    {"run"},
                                                    {"rank", "--"},
                                                    {"local"},
                                                    {"rnk", "--help"}}) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.error, AllOf(StartsWith("margay-job: "), HasSubstr("--help")));
  }
}

TEST(MargayJob, NeedsNothingButLibc) {
  if (!std::string(MARGAY_SANITIZERS).empty()) GTEST_SKIP() << "a sanitizer brings libraries along";
  const Finished ldd = run_program({"/usr/bin/ldd", kProgram}, "/", {});
  ASSERT_EQ(ldd.exit_code, 0) << ldd.error;
  std::istringstream lines(ldd.output);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.find("libc.so.6") != std::string::npos ||
                line.find("ld-linux") != std::string::npos ||
                line.find("linux-vdso") != std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace tests
