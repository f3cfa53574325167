// margay-engine's answers as a shell script gives them; the engine itself is asked in
// tests/integration.
#include "scheduler/results/search_counts.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "base/descriptor.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SearchCountsTest : public testing::Test {
 protected:
  CountAnswer ask(
      const std::string& script, const std::function<bool()>& look = [] { return true; }) {
    scratch_.write("engine", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(scratch_ / "engine", std::filesystem::perms::owner_all);
    const base::Descriptor volume(
        ::open(scratch_.write("volume", "the volume").c_str(), O_RDONLY | O_CLOEXEC));
    return count_search(command_,
                        {.search_yaml = "optics_group: {pixel_size: 1, voltage: 300}\n",
                         .settings_name = "my search.yaml",
                         .volume_path = "/home/ann/v.mrc",
                         .volume_sha256 = std::string(64, '0'),
                         .volume = volume.get()},
                        look);
  }
  // No question leaves a file.
  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(scratch_ / "state")); }

  tests::ScratchFolder scratch_;
  EngineCommand command_{.engine = scratch_ / "engine", .folder = scratch_ / "state"};
  const bool made_ = std::filesystem::create_directory(scratch_ / "state");
};

constexpr const char* kPlan =
    R"({"version": "1.2", "orientations": 1596000, "defocus_planes": [-100, 0, 100],)"
    R"( "pixel_sizes": 1, "template_size": 384})";

TEST_F(SearchCountsTest, AreThoseOfTheEnginesPlan) {
  const CountAnswer answer = ask(std::string("echo '") + kPlan + "'");
  EXPECT_EQ(answer.unchecked, "");
  EXPECT_EQ(answer.refused, "");
  EXPECT_EQ(answer.counts.engine, "1.2");
  EXPECT_EQ(answer.counts.orientations, 1'596'000);
  EXPECT_EQ(answer.counts.defocus_planes, 3);
  EXPECT_EQ(answer.counts.pixel_sizes, 1);
  EXPECT_EQ(answer.counts.template_size, 384);
}

TEST_F(SearchCountsTest, SayThatASearchHasLargerPixels) {
  std::string plan = kPlan;
  plan.insert(plan.size() - 1, R"(, "fourier_crop": {"template_size": 288})");
  EXPECT_EQ(ask("echo '" + plan + "'").counts.engine, "1.2, fourier_crop 288 of 384");
}

TEST_F(SearchCountsTest, TheEnginesDoubtsComeByTheNamesOfTheUsersFiles) {
  const CountAnswer answer =
      ask("echo \"margay-engine: note: template_volume_path: '/dev/stdin' has no pixel size\" >&2\n"
          "echo \"margay-engine: warning: optics_group.voltage is 3 kV\" >&2\necho other >&2\n"
          "echo '" +
          std::string(kPlan) + "'");
  EXPECT_THAT(answer.notes,
              testing::ElementsAre("template_volume_path: '/home/ann/v.mrc' has no pixel size",
                                   "optics_group.voltage is 3 kV"));
}

TEST_F(SearchCountsTest, TheEngineGetsSettingsAndVolumeAndNothingElse) {
  const CountAnswer answer =
      ask("ls /proc/self/fd | wc -l > " + scratch_ / "open" + "; cp \"$2\" " + scratch_ / "config" +
          "; cat > " + scratch_ / "input" + "; echo \"$1 $3\" > " + scratch_ / "words" +
          "; echo '" + kPlan + "'");
  EXPECT_EQ(answer.unchecked, "");
  EXPECT_EQ(tests::text_of(scratch_ / "open"), "4\n") << "three and that of ls";
  EXPECT_EQ(tests::text_of(scratch_ / "input"), "the volume");
  EXPECT_EQ(tests::text_of(scratch_ / "words"), "plan --json\n");
  EXPECT_THAT(tests::text_of(scratch_ / "config"),
              AllOf(HasSubstr("template_volume_path: \"/dev/stdin\""),
                    HasSubstr("template_volume_sha256: \"0000"), Not(HasSubstr("/home/ann"))));
}

TEST_F(SearchCountsTest, WhatTheEngineRefusesIsSaidByTheNamesOfTheUsersFiles) {
  EXPECT_EQ(ask("echo \"margay-engine: note: the pixel size is not in the header\" >&2\n"
                "echo \"margay-engine: '$2' line 17: orientation_search_config.psi_step must be "
                "greater than 0, but is -1\" >&2; exit 64")
                .refused,
            "'my search.yaml': orientation_search_config.psi_step must be greater than 0, but is "
            "-1");
  EXPECT_EQ(ask("echo \"margay-engine: template_volume_path: '/dev/stdin' is not cubic\" >&2; "
                "exit 64")
                .refused,
            "template_volume_path: '/home/ann/v.mrc' is not cubic");
}

TEST_F(SearchCountsTest, WithoutAnAnswerTheSettingsAreUnchecked) {
  const auto unchecked = [this](const std::string& script) {
    const CountAnswer answer = ask(script);
    EXPECT_EQ(answer.refused, "");
    EXPECT_EQ(answer.counts.engine, "");
    return answer.unchecked;
  };
  EXPECT_THAT(unchecked("echo 'margay-engine: no memory' >&2; exit 71"),
              HasSubstr("engine ended with 71 (no memory)"));
  EXPECT_THAT(unchecked("echo '{\"version\": 7}'"), HasSubstr("same version as margayd"));
  for (const char* number : {"1e300", "384.5", "18446744073709551615", "true"}) {
    std::string plan = kPlan;
    plan.replace(plan.find("384"), 3, number);
    EXPECT_THAT(unchecked("echo '" + plan + "'"), HasSubstr("same version as margayd")) << number;
  }
  EXPECT_THAT(unchecked("yes '[[[[' | head -c 8000000"), HasSubstr("engine"));
  EXPECT_THAT(unchecked("kill -9 $$"), HasSubstr("was killed by signal 9"));
  command_.timeout = milliseconds(200);
  EXPECT_THAT(unchecked("sleep 600"), HasSubstr("did not end within 0.2 s"));
  command_.engine = "/nowhere/margay-engine";
  EXPECT_THAT(unchecked(""), HasSubstr("cannot start /nowhere/margay-engine"));
}

TEST_F(SearchCountsTest, AnEngineThatTakesTooMuchMemoryOrThatNobodyWaitsForIsEnded) {
  EXPECT_THAT(ask("sleep 600", [] { return false; }).unchecked, HasSubstr("was stopped"));
  command_.most_memory = 32U << 20U;
  EXPECT_THAT(ask("a=$(head -c 200000000 /dev/zero | tr '\\0' a); sleep 600").unchecked,
              HasSubstr("took more than 33.6 MB of memory"));
}

TEST_F(SearchCountsTest, WhatAKilledDaemonLeftIsRemovedAtTheNextStart) {
  Config config;
  config.state = scratch_ / "state";
  const EngineCommand command = engine_command(config);
  std::ofstream(command.folder + "/search-abcdef") << "left";
  engine_command(config);
  EXPECT_TRUE(std::filesystem::is_empty(command.folder));
  std::filesystem::remove(command.folder);
}

}  // namespace
}  // namespace scheduler
