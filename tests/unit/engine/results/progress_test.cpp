#include "engine/results/progress.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/json.h"
#include "engine/pictures/scales.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Progress half_done() {
  return {
      .done = 8'714'640, .total = 17'429'280, .rate = 2345.6, .eta_seconds = 3725, .best_z = 9.25};
}

TEST(ProgressBar, FillsTheColumnsExactly) {
  for (const bool unicode : {true, false}) {
    for (int columns = 30; columns < 200; ++columns) {
      EXPECT_EQ(character_count(progress_bar(half_done(), columns, unicode)),
                static_cast<size_t>(columns));
    }
    for (int columns = -1; columns < 30; ++columns) {
      EXPECT_LE(character_count(progress_bar(half_done(), columns, unicode)),
                static_cast<size_t>(std::max(0, columns)));
    }
  }
}

TEST(ProgressBar, ShowsHowFarAndHowLong) {
  EXPECT_EQ(progress_bar(half_done(), 80, false),
            " 50.0 % |########........|  8.71M/17.4M  2.35k/s   1 h 02 min left  best z  9.25");
  EXPECT_EQ(progress_bar(half_done(), 34, true), " 50.0 % │███   │   1 h 02 min left");
}

TEST(ProgressBar, GivesWayToTheTimeLeftOnANarrowTerminal) {
  EXPECT_EQ(progress_bar(half_done(), 33, true), " 50.0 %           1 h 02 min left");
  EXPECT_EQ(progress_bar(half_done(), 23, true), " 50.0 % 1 h 02 min left");
  EXPECT_EQ(progress_bar(half_done(), 19, true), " 50.0 %  1 h 02 min");
  EXPECT_EQ(progress_bar(half_done(), 17, false), " 50.0 % |###....|");
  EXPECT_EQ(progress_bar(half_done(), 9, true), " 50.0 %");
  Progress progress = half_done();
  progress.eta_seconds = 0;
  EXPECT_EQ(progress_bar(progress, 19, false), " 50.0 % |####.....|");
  progress.state = "writing";
  EXPECT_EQ(progress_bar(progress, 19, false), " 50.0 %     writing");
}

TEST(ProgressBar, LeavesOutTheBestZUntilOneIsKnown) {
  Progress progress = half_done();
  progress.best_z = 0;
  EXPECT_EQ(progress_bar(progress, 80, false),
            " 50.0 % |###############...............|  8.71M/17.4M  2.35k/s   1 h 02 min left");
  progress.best_z = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(progress_bar(progress, 80, false), Not(HasSubstr("best z")));
}

TEST(ProgressBar, IsEmptyAtTheStartAndFullAtTheEnd) {
  Progress progress = {.done = 0, .total = 100};
  EXPECT_THAT(progress_bar(progress, 80, false), Not(HasSubstr("#")));
  progress.done = 99;
  EXPECT_THAT(progress_bar(progress, 80, false), HasSubstr("#."));
  progress.done = 100;
  EXPECT_THAT(progress_bar(progress, 80, false), Not(HasSubstr(".|")));
  progress.total = 0;
  EXPECT_THAT(progress_bar(progress, 80, false), HasSubstr("0.0 %"));
}

TEST(ProgressLine, IsForLogs) {
  EXPECT_EQ(progress_line(half_done()),
            "50.0 %: 8,714,640 of 17,429,280 correlations, 2.35k/s, 1 h 02 min left, best z 9.25");
  Progress progress = half_done();
  progress.state = "writing";
  EXPECT_THAT(progress_line(progress), HasSubstr(", writing, "));
  progress.best_z = 0;
  EXPECT_EQ(progress_line(progress),
            "50.0 %: 8,714,640 of 17,429,280 correlations, 2.35k/s, writing");
}

TEST(ProgressJson, HasWhatReadersLookFor) {
  const json text = json::parse(progress_json(half_done()));
  EXPECT_EQ(text["done"], 8714640);
  EXPECT_EQ(text["total"], 17429280);
  EXPECT_EQ(text["rate"], 2345.6);
  EXPECT_EQ(text["eta_seconds"], 3725.0);
  EXPECT_EQ(text["best_z"], 9.25);
  EXPECT_EQ(text["state"], "running");
  EXPECT_THAT(text["time"].get<std::string>(), ::testing::MatchesRegex("....-..-..T..:..:..Z"));
}

TEST(ProgressJson, WhatIsNotKnownYetIsZeroAndStillANumber) {
  const double infinity = std::numeric_limits<double>::infinity();
  const json text = json::parse(progress_json({.eta_seconds = infinity, .best_z = -infinity}));
  EXPECT_EQ(text["eta_seconds"], 0.0);
  EXPECT_EQ(text["best_z"], 0.0);
}

TEST(ProgressReporter, EveryReportIsInTheFileAndALogGetsOneLineAMinute) {
  const ScratchFolder folder;
  ProgressReporter reporter(folder.file("new/progress.json"));
  ::testing::internal::CaptureStderr();
  for (int64_t done = 0; done < 5; ++done) {
    reporter.report({.done = done, .total = 10});
    EXPECT_EQ(json::parse(read_file(folder.file("new/progress.json")))["done"], done);
  }
  reporter.finish({.done = 10, .total = 10, .state = "done"});
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_EQ(json::parse(read_file(folder.file("new/progress.json")))["state"], "done");
}

TEST(ProgressReporter, AFileThatCannotBeWrittenIsSaidOnceAndStopsNothing) {
  const ScratchFolder folder;
  write_file(folder.file("file"), "");
  ProgressReporter reporter(folder.file("file/progress.json"));
  ::testing::internal::CaptureStderr();
  reporter.report({});
  reporter.report({});
  const std::string log = ::testing::internal::GetCapturedStderr();
  const size_t first = log.find(folder.file("file"));
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("no progress file", log.find("no progress file") + 1), std::string::npos);
}

TEST(HadBegunToWrite, IsWhatTheProgressFileSays) {
  const ScratchFolder folder;
  const std::string file = folder.file("progress.json");
  EXPECT_FALSE(had_begun_to_write(file));
  for (const auto& [state, begun] :
       {std::pair{"starting", false}, std::pair{"running", false}, std::pair{"stopped", false},
        std::pair{"writing", true}, std::pair{"done", true}}) {
    write_file(file, progress_json({.state = state}));
    EXPECT_EQ(had_begun_to_write(file), begun) << state;
  }
  for (const char* damaged : {"", "{", "[]", "{\"state\": 3}"}) {
    write_file(file, damaged);
    EXPECT_FALSE(had_begun_to_write(file)) << damaged;
  }
}

}  // namespace
}  // namespace engine
