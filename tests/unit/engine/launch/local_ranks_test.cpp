#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>

#include "tests/program.h"
#include "tests/scratch_folder.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kLong = 600'000;  // longer than any test waits

// Shell: the rank's own number, and how it waits for the others. The ranks' ids are in pid.RANK;
// what has ended stays a zombie until all have.
const char* const kBegin =
    "rank=$2\n"
    "until_there() { while [ ! -e $1 ]; do sleep 0.02; done; }\n"
    "until_ended() { until_there pid.$1; while ! grep -q ') Z' /proc/$(cat pid.$1)/stat; do "
    "sleep 0.02; done; }\n"
    "echo $$ > pid.new.$rank; mv pid.new.$rank pid.$rank\n";

class LocalRanksOfAProgram : public testing::Test {
 protected:
  LocalRanksOfAProgram() {
    // That a folder of the ranks is left over is seen.
    std::filesystem::create_directory(scratch_ / "tmp");
  }

  // Starts ranks that run this shell script.
  Program& start(int count, int timeout, const std::string& script,
                 const std::string& how = "start", const std::vector<std::string>& variables = {}) {
    const std::string path = scratch_.write("rank.sh", kBegin + script);
    return start_command(count, timeout, {"/bin/sh", path}, how, variables);
  }

  Program& start_command(int count, int timeout, const std::vector<std::string>& command,
                         const std::string& how = "start",
                         std::vector<std::string> variables = {}) {
    std::vector<std::string> words = {kProgram, how, std::to_string(count),
                                      std::to_string(timeout)};
    words.insert(words.end(), command.begin(), command.end());
    variables.push_back("TMPDIR=" + scratch_ / "tmp");
    program_ = std::make_unique<Program>(words, scratch_.path(), variables);
    return *program_;
  }

  bool is_there(const std::string& name) const {
    return std::filesystem::exists(scratch_.file(name));
  }
  bool are_there(const std::string& name, int count) const {
    for (int rank = 0; rank < count; ++rank) {
      if (!is_there(name + "." + std::to_string(rank))) return false;
    }
    return true;
  }
  std::string text(const std::string& name) const { return text_of(scratch_.file(name)); }
  bool ended(int rank) const {
    const std::string pid = text("pid." + std::to_string(rank));
    const std::string stat = text_of_process("/proc/" + pid.substr(0, pid.find('\n')) + "/stat");
    return stat.empty() || stat.find(") Z") != std::string::npos;
  }

  static inline const std::string kProgram = std::string(MARGAY_BIN_DIR) + "/local_ranks_program";
  ScratchFolder scratch_;
  std::unique_ptr<Program> program_;
};

TEST_F(LocalRanksOfAProgram, AllThatEndWellAreSilentButRank0) {
  const Finished run =
      start(3, kLong, "echo output of $rank; echo message of $rank >&2; exit 0").wait();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output, "output of 0\n");
  EXPECT_EQ(run.error, "message of 0\n");
}

TEST_F(LocalRanksOfAProgram, AQuietRank0SpeaksOnlyWhenItFails) {
  const std::string script = "echo output of $rank; echo message of $rank >&2; exit ";
  const Finished good = start(2, kLong, script + "0", "quiet").wait();
  EXPECT_EQ(good.exit_code, 0);
  EXPECT_EQ(good.output + good.error, "");
  const Finished bad = start(1, kLong, script + "64", "quiet").wait();
  EXPECT_EQ(bad.exit_code, 64);
  EXPECT_EQ(bad.output, "");
  EXPECT_EQ(bad.error, "output of 0\nmessage of 0\n");
}

TEST_F(LocalRanksOfAProgram, EachKnowsWhoItIsAndWhereTheyMeet) {
  ASSERT_EQ(start(2, kLong,
                  "echo \"$*\" > words.$rank; path=${8#file:}\n"
                  "stat -c %a $(dirname $path) > mode.$rank; dirname $path > folder.$rank")
                .wait()
                .exit_code,
            0);
  for (int rank = 0; rank < 2; ++rank) {
    const std::string number = std::to_string(rank);
    EXPECT_THAT(text("words." + number),
                testing::MatchesRegex("--rank " + number + " --world-size 2 --local-rank " +
                                      number + " --rendezvous file:/.* --run-id [0-9a-f]{32}\n"));
    EXPECT_EQ(text("mode." + number), "700\n");
    EXPECT_THAT(text("folder." + number), HasSubstr(scratch_ / "tmp"));
  }
  const auto shared = [&](const char* rank) {
    const std::string words = text(std::string("words.") + rank);
    return words.substr(words.find("--rendezvous"));
  };
  EXPECT_EQ(shared("0"), shared("1"));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "tmp"));
}

// The device that a rank was bound to is its only one, so that its place on the host chooses none.
TEST_F(LocalRanksOfAProgram, EachSeesItsOwnDeviceAlone) {
  ASSERT_EQ(
      start(2, kLong, "echo $CUDA_VISIBLE_DEVICES $SEEN > device.$rank; echo $* > words.$rank",
            "devices", {"CUDA_VISIBLE_DEVICES=7,8", "SEEN=too"})
          .wait()
          .exit_code,
      0);
  for (const std::string rank : {"0", "1"}) {
    EXPECT_EQ(text("device." + rank), "GPU-" + rank + " too\n");
    EXPECT_THAT(text("words." + rank),
                HasSubstr("--rank " + rank + " --world-size 2 --rendezvous"));
  }
}

TEST_F(LocalRanksOfAProgram, WithoutDevicesOfTheirOwnTheySeeWhatThisProcessSees) {
  ASSERT_EQ(start(2, kLong, "echo $CUDA_VISIBLE_DEVICES > device.$rank", "start",
                  {"CUDA_VISIBLE_DEVICES=7,8"})
                .wait()
                .exit_code,
            0);
  for (const char* const rank : {"0", "1"}) {
    EXPECT_EQ(text(std::string("device.") + rank), "7,8\n");
  }
}

TEST_F(LocalRanksOfAProgram, TwoRunsHaveDifferentIds) {
  std::vector<std::string> ids;
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(start(1, kLong, "echo ${10} > id").wait().exit_code, 0);
    ids.push_back(text("id"));
  }
  EXPECT_EQ(ids[0].size(), 33u);
  EXPECT_NE(ids[0], ids[1]);
}

TEST_F(LocalRanksOfAProgram, TheFirstFailureIsShownAndTheRestIsEnded) {
  const Finished run = start(3, 100,
                             "echo message of $rank >&2\n"
                             "[ $rank != 1 ] && exec sleep 10000\n"
                             "until_there pid.0; until_there pid.2\n"
                             "printf 'no device\\nlast line' >&2; exit 70")
                           .wait();
  EXPECT_EQ(run.exit_code, 70);
  EXPECT_THAT(run.error, HasSubstr("rank 1: message of 1\nrank 1: no device\nrank 1: last line\n"
                                   "rank 1 ended with exit code 70\n"));
  EXPECT_THAT(run.error, Not(HasSubstr("rank 2")));
  for (int rank = 0; rank < 3; ++rank) EXPECT_TRUE(ended(rank)) << rank;
  EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "tmp"));
}

TEST_F(LocalRanksOfAProgram, TheOthersMayEndByThemselves) {
  const Finished run = start(3, kLong,
                             "until_there pid.0; until_there pid.2\n"
                             "[ $rank = 1 ] && kill -KILL $$\n"
                             "until_ended 1; [ $rank = 0 ] && until_ended 2\n"
                             "echo lost rank 1 >&2; exit 70")
                           .wait();
  EXPECT_EQ(run.exit_code, 128 + SIGKILL);
  EXPECT_THAT(run.error, HasSubstr("rank 1 was ended by signal 9 (SIGKILL)\n"));
  EXPECT_THAT(run.error, HasSubstr("rank 2: lost rank 1\n"));
}

TEST_F(LocalRanksOfAProgram, TheOthersAreAskedToStopBeforeTheyAreKilled) {
  const Finished run = start(2, 2000,
                             "[ $rank = 0 ] && exec " + kProgram +
                                 " listen 85 . \"$@\"\n"
                                 "until_there ready.0; exit 64")
                           .wait();
  EXPECT_EQ(run.exit_code, 64);
  EXPECT_TRUE(is_there("stopped.0"));
}

TEST_F(LocalRanksOfAProgram, OnlyTheEndOfMuchIsShown) {
  const Finished run = start(2, 100,
                             "[ $rank = 0 ] && exec sleep 10000\n"
                             "seq 100000 >&2; echo last >&2; exit 64")
                           .wait();
  EXPECT_EQ(run.exit_code, 64);
  EXPECT_THAT(run.error, testing::MatchesRegex("rank 1: [0-9]{5,6}\n(.|\n)*"));
  EXPECT_THAT(run.error, testing::EndsWith("rank 1: 100000\nrank 1: last\n"
                                           "rank 1 ended with exit code 64\n"));
  EXPECT_LT(run.error.size(), 300'000u);
}

TEST_F(LocalRanksOfAProgram, TheFailureOfRank0IsItsOwnMessage) {
  const Finished run = start(2, 100,
                             "[ $rank = 1 ] && exec sleep 10000\n"
                             "until_there pid.1; echo bad input >&2; exit 64")
                           .wait();
  EXPECT_EQ(run.exit_code, 64);
  EXPECT_EQ(run.error, "bad input\n");
}

TEST_F(LocalRanksOfAProgram, WhatFollowsFromTheFailureOfRank0IsNotShown) {
  const Finished run = start(2, kLong,
                             "until_there pid.0; until_there pid.1\n"
                             "[ $rank = 0 ] && echo bad input >&2 && exit 64\n"
                             "until_ended 0; echo rank 0 is not there >&2; exit 70")
                           .wait();
  EXPECT_EQ(run.exit_code, 64);
  EXPECT_EQ(run.error, "bad input\n");
}

TEST_F(LocalRanksOfAProgram, WhenRank0IsDoneNobodyIsWaitedForLonger) {
  const Finished run = start(2, 100,
                             "[ $rank = 1 ] && exec sleep 10000\n"
                             "until_there pid.1; exit 0")
                           .wait();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_TRUE(ended(1));
}

TEST_F(LocalRanksOfAProgram, SurvivorsGoOnWhereTheyMay) {
  const std::string script =
      "until_there pid.0; until_there pid.2\n"
      "[ $rank = 1 ] && kill -KILL $$\n"
      "until_ended 1; until_there go; exit 0";
  Program& program = start(3, 0, script, "survivors");
  ASSERT_TRUE(becomes_true([&] { return is_there("pid.1") && ended(1); }));
  scratch_.write("go", "");
  const Finished run = program.wait();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.error, HasSubstr("rank 1 was ended by signal 9 (SIGKILL)\n"));
}

TEST_F(LocalRanksOfAProgram, EveryStopGoesOnToAllOfThem) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    for (int rank = 0; rank < 3; ++rank) {
      std::filesystem::remove(scratch_ / ("ready." + std::to_string(rank)));
    }
    Program& program = start_command(3, kLong, {kProgram, "listen", "85", "."});
    ASSERT_TRUE(becomes_true([&] { return are_there("ready", 3); }));
    program.signal(signal);
    const Finished run = program.wait();
    EXPECT_EQ(run.exit_code, 85) << signal;
    EXPECT_EQ(run.error, "") << signal;
  }
}

TEST_F(LocalRanksOfAProgram, AStopThatComesBeforeARankListensIsNotLost) {
  Program& program = start_command(2, kLong, {kProgram, "late", "85", "."});
  const auto pending = [&](const std::string& rank) {
    const std::string pid = text("pid." + rank);
    const std::string status =
        text_of_process("/proc/" + pid.substr(0, pid.find('\n')) + "/status");
    return status.find("ShdPnd:\t0000000000004000") != std::string::npos;  // SIGTERM
  };
  ASSERT_TRUE(becomes_true([&] { return !text("pid.0").empty() && !text("pid.1").empty(); }));
  program.signal(SIGTERM);
  ASSERT_TRUE(becomes_true([&] { return pending("0") && pending("1"); }));
  scratch_.write("go", "");
  EXPECT_EQ(program.wait().exit_code, 85);
  EXPECT_TRUE(are_there("stopped", 2));
}

TEST_F(LocalRanksOfAProgram, AFailureAfterAStopIsTheFailure) {
  Program& program = start(2, kLong,
                           "[ $rank = 0 ] && exec " + kProgram +
                               " listen 64 . \"$@\"\n"
                               "exec " +
                               kProgram + " listen 85 . \"$@\"");
  ASSERT_TRUE(becomes_true([&] { return are_there("ready", 2); }));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().exit_code, 64);
}

TEST_F(LocalRanksOfAProgram, NobodyOutlivesTheParentThatIsKilled) {
  Program& program = start(3, kLong, "exec sleep 10000");
  ASSERT_TRUE(becomes_true([&] { return are_there("pid", 3); }));
  program.signal(SIGKILL);
  EXPECT_EQ(program.wait().signal, SIGKILL);
  EXPECT_TRUE(becomes_true([&] { return ended(0) && ended(1) && ended(2); }));
}

TEST_F(LocalRanksOfAProgram, AProgramThatCannotRunIsNamed) {
  const Finished run = start_command(2, 100, {"/no/such/program"}).wait();
  EXPECT_EQ(run.exit_code, 127);
  EXPECT_THAT(run.error, HasSubstr("cannot run '/no/such/program'\n"));
}

TEST_F(LocalRanksOfAProgram, NoRanksAtAllAreRefused) {
  const Finished run = start_command(0, 100, {"/bin/true"}).wait();
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.error, HasSubstr("--nproc"));
}

}  // namespace
}  // namespace tests
