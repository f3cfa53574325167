#include "slurm/job/job_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace slurm {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

// The words of `text`, parted by blanks.
Words words(const std::string& text) {
  Words result;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

std::string refusal(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(RunArguments, PartTheLauncherFromTheEngine) {
  const RunOptions options = parse_run(
      words("--attempt /jobs/7/a2 --number 2 --probe -- srun -n4 margay-job rank --attempt "
            "/jobs/7/a2 -- margay-engine match c.yaml --backend cuda --threads 3"));
  EXPECT_EQ(options.attempt, "/jobs/7/a2");
  EXPECT_EQ(options.number, 2);
  EXPECT_TRUE(options.probe);
  EXPECT_THAT(options.launcher,
              ElementsAreArray(words("srun -n4 margay-job rank --attempt /jobs/7/a2 --")));
  EXPECT_THAT(options.engine,
              ElementsAreArray(words("margay-engine match c.yaml --backend cuda --threads 3")));
  EXPECT_THAT(search_command(options, ""),
              ElementsAreArray(words("srun -n4 margay-job rank --attempt /jobs/7/a2 -- "
                                     "margay-engine match c.yaml --backend cuda --threads 3")));
  EXPECT_THAT(probe_command(options),
              ElementsAreArray(
                  words("srun -n4 margay-job rank --attempt /jobs/7/a2 -- timeout --foreground "
                        "--kill-after=10 300 margay-engine selftest --backend cuda --threads "
                        "3")));
}

TEST(RunArguments, NeedNoLauncher) {
  const RunOptions options = parse_run(words("--attempt /a --number 1 -- margay-engine match"));
  EXPECT_THAT(options.launcher, IsEmpty());
  EXPECT_FALSE(options.probe);
  EXPECT_THAT(search_command(options, "/old"),
              ElementsAre("margay-engine", "match", "--resume", "/old"));
}

// The fence is in the folder above the attempt's.
TEST(RunArguments, NameTheFolderWithoutASlashAtItsEnd) {
  EXPECT_EQ(parse_run(words("--attempt /jobs/7/a2// --number 2 -- engine match")).attempt,
            "/jobs/7/a2");
  EXPECT_EQ(parse_rank(words("--attempt /jobs/7/a2/ -- engine match")).attempt, "/jobs/7/a2");
}

TEST(RunArguments, ThatAreEmptyAreNotGivenToTheEngine) {
  Words given = words("--attempt /a --number 1 --resume X --batch X -- margay-engine match");
  for (std::string& word : given) word = word == "X" ? "" : word;
  EXPECT_THAT(search_command(parse_run(given), ""), ElementsAre("margay-engine", "match"));
  for (std::string& word : given) word = word.empty() ? "4" : word;
  EXPECT_THAT(search_command(parse_run(given), "/c"),
              ElementsAre("margay-engine", "match", "--resume", "/c", "--batch", "4"));
}

TEST(RunArguments, ThatAreWrongAreNamed) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { parse_run(words(text)); });
  };
  EXPECT_THAT(refused("--attempt /a --number 1 engine"), HasSubstr("unknown option 'engine'"));
  EXPECT_THAT(refused("--attempt /a --number 1"), HasSubstr("no '--'"));
  EXPECT_THAT(refused("--attempt /a --number 1 --"), HasSubstr("no command"));
  EXPECT_THAT(refused("--attempt /a --number 1 -- srun --"), HasSubstr("no engine"));
  EXPECT_THAT(refused("--attempt /a -- engine"), HasSubstr("--number is missing"));
  EXPECT_THAT(refused("--number 1 -- engine"), HasSubstr("--attempt is missing"));
  EXPECT_THAT(refused("--attempt /a --number one -- e"), HasSubstr("not 'one'"));
  EXPECT_THAT(refused("--attempt /a --number 0 -- e"), HasSubstr("from 1 on"));
  EXPECT_THAT(refused("--attempt"), HasSubstr("--attempt needs a value"));
}

TEST(RankArguments, LeaveTheCommandAsItIs) {
  const RankOptions one = parse_rank(words("--attempt /a -- timeout 3 engine --attempt x"));
  EXPECT_EQ(one.attempt, "/a");
  EXPECT_EQ(one.per_task, 1);
  EXPECT_THAT(one.command, ElementsAreArray(words("timeout 3 engine --attempt x")));
  EXPECT_EQ(parse_rank(words("--attempt /a --per-task 4 -- e")).per_task, 4);
  EXPECT_THAT(refusal([] { parse_rank(words("--per-task 4 -- e")); }),
              HasSubstr("--attempt is missing"));
}

}  // namespace
}  // namespace slurm
