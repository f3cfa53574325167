// `margay-engine scale`: the table, what it counts, and what it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/json.h"
#include "tests/integration/small_search.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

class Scale : public testing::Test {
 protected:
  Scale() {
    fs::create_directory(search_.file("tmp"));
    search_.sections["orientation_search_config"] = "{psi_step: 20, theta_step: 20, symmetry: C1}";
    search_.write_config();
  }

  Finished scale(std::vector<std::string> arguments,
                 std::vector<std::string> environment = {}) const {
    arguments.insert(arguments.begin(), {engine_program(), "scale"});
    arguments.insert(arguments.end(), {"--backend", "cpu", "--threads", "1"});
    environment.push_back("TMPDIR=" + search_.file("tmp"));
    return run_program(arguments, search_.folder(), environment);
  }

  void expect_no_scratch() const { EXPECT_TRUE(fs::is_empty(search_.file("tmp"))); }

  SmallSearch search_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(Scale, PrintsARowForEveryNumberOfRanks) {
  const Finished done = scale({"search.yaml", "--nproc", "2", "--output", "table.csv"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const std::vector<std::string> lines = lines_of(done.output);
  ASSERT_EQ(lines.size(), 6u) << done.output;
  EXPECT_THAT(lines[0], HasSubstr("64 x 48 pixels, template 16^3"));
  EXPECT_THAT(lines[1], HasSubstr("cpu, 1 thread in every rank"));
  EXPECT_THAT(lines[4], MatchesRegex(" *1 +[0-9.]+ +1\\.00 +100\\.0 % .*100\\.0 to 100\\.0 %\\)"));
  EXPECT_THAT(lines[5], MatchesRegex(" *2 +[0-9.]+ +[0-9.]+ +[0-9.]+ % .*%\\)"));
  std::ostringstream table;
  table << std::ifstream(search_.file("table.csv")).rdbuf();
  EXPECT_EQ(lines_of(table.str()).size(), 3u) << table.str();
  EXPECT_THAT(lines_of(table.str()).at(1), HasSubstr("1,1,"));
  // The search's own results are somewhere else.
  EXPECT_FALSE(fs::exists(search_.file("out")));
  expect_no_scratch();
  EXPECT_THAT(scale({"search.yaml", "--nproc", "1", "--output", "table.csv"}).error,
              HasSubstr("--overwrite"));
}

TEST_F(Scale, CountsEveryCorrelationOfEveryRank) {
  const Finished done = scale({"search.yaml", "--nproc", "3", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  const json table = json::parse(done.output);
  EXPECT_EQ(table["threads_per_rank"], 1);
  ASSERT_EQ(table["rows"].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const json& row = table["rows"][i];
    EXPECT_EQ(row["ranks"], i + 1);
    const auto counts = row["correlations_of_ranks"].get<std::vector<int64_t>>();
    EXPECT_EQ(counts.size(), i + 1);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}),
              table["correlations"].get<int64_t>());
  }
  EXPECT_EQ(table["rows"][0]["speed_up"], 1.0);
}

TEST_F(Scale, ASearchThatFailsEndsItWithItsMessageAndStatus) {
  fs::remove(search_.file("template.mrc"));
  const Finished failed = scale({"search.yaml", "--nproc", "2"});
  EXPECT_EQ(failed.exit_code, 64);
  EXPECT_THAT(failed.error, HasSubstr("template.mrc"));
  EXPECT_EQ(failed.output, "");
  expect_no_scratch();
}

TEST_F(Scale, UnderALauncherItIsRefusedWithWhatToDo) {
  const Finished refused = scale({"search.yaml"}, {"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1",
                                                   "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29500"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error, HasSubstr("margay-engine scale --nproc N"));
}

TEST_F(Scale, AScratchFolderThatCannotBeMadeIsNamedWithWhatToDo) {
  // Nobody can make a folder there. The second is as in an allocation of two nodes.
  const Finished here =
      run_program({engine_program(), "scale", "--backend", "cpu"}, "/proc", {"TMPDIR=/proc"});
  EXPECT_EQ(here.exit_code, 64);
  EXPECT_THAT(here.error, HasSubstr("set TMPDIR to a folder"));
  const Finished on_nodes =
      run_program({engine_program(), "scale", "--backend", "cpu"}, "/proc",
                  {"SLURM_JOB_ID=1", "SLURM_JOB_NUM_NODES=2", "SLURM_JOB_CPUS_PER_NODE=2(x2)"});
  EXPECT_EQ(on_nodes.exit_code, 64);
  EXPECT_THAT(on_nodes.error, HasSubstr("that all nodes of the allocation see"));
}

TEST_F(Scale, StoppedInTheMiddleOfASearchOfItsOwnItLeavesNothing) {
  Program program({engine_program(), "scale", "--nproc", "1", "--backend", "cpu"}, search_.folder(),
                  {"TMPDIR=" + search_.file("tmp")});
  const auto searches = [&] {
    for (const auto& [path, bytes] : search_.contents()) {
      if (path.ends_with("/1/progress.json")) return true;
    }
    return false;
  };
  ASSERT_TRUE(becomes_true([&] { return searches() || !program.running(); }));
  program.signal(SIGTERM);
  const Finished stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, 85) << stopped.error;
  EXPECT_THAT(stopped.error, HasSubstr("stopped on request"));
  EXPECT_EQ(stopped.output, "");
  expect_no_scratch();
}

}  // namespace
}  // namespace tests
