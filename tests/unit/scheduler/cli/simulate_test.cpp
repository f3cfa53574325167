#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/read_file.h"
#include "scheduler/cli/program.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CliSimulateTest : public testing::Test {
 protected:
  struct Result {
    int exit = 0;
    std::string out{};
    std::string error{};
  };
  static Result simulate(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"margay", "simulate"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream error;
    const int exit = cli::run(static_cast<int>(argv.size()), argv.data(), {}, out, error);
    return {.exit = exit, .out = out.str(), .error = error.str()};
  }
  std::string trace(const std::string& yaml) const {
    const std::string path = scratch_.path() + "/trace.yaml";
    std::ofstream(path) << yaml;
    return path;
  }
  // The backlog of docs/policy.md, on the cluster and with the constants there.
  std::string backlog() const {
    return trace(
        "site: {nodes: 16, gpus_per_node: 4}\n"
        "model: {straggler: {1: 0, 4: 0.01, 64: 0.04}}\n"
        "items: [{count: 500, class: low, work_gpu_hours: 16}]\n");
  }

  tests::ScratchFolder scratch_;
};

TEST_F(CliSimulateTest, ComparesPoliciesSideBySide) {
  const Result result = simulate({backlog()});
  ASSERT_EQ(result.exit, 0) << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("500 items on 16 nodes with 4 GPUs each"),
                                HasSubstr("ours              128.1 h        16.0 h"),
                                HasSubstr("one-gpu           128.1 h        16.0 h"),
                                HasSubstr("one-node          129.6 h        4.05 h"),
                                HasSubstr("whole-partition   139.0 h"), HasSubstr("fcfs ")));
}

TEST_F(CliSimulateTest, SimulatesOnlyTheNamedPoliciesAndPrintsJson) {
  const Result result = simulate({backlog(), "--policy", "one-gpu,ours", "--json"});
  ASSERT_EQ(result.exit, 0) << result.error;
  const nlohmann::json document = nlohmann::json::parse(result.out);
  ASSERT_EQ(document.at("policies").size(), 2U);
  const nlohmann::json& ours = document.at("policies").at(0);
  EXPECT_EQ(ours.at("policy"), "ours");
  EXPECT_EQ(ours.at("classes").at(0).at("items"), 500);
  EXPECT_GT(ours.at("classes").at(0).at("completion_seconds").at("median"), 57'600);
  EXPECT_EQ(ours.at("missed_deadlines"), 0);
}

TEST_F(CliSimulateTest, DrawsATimelineAndTheWaits) {
  const std::string folder = scratch_.path() + "/pictures";
  const Result result = simulate({backlog(), "--policy", "one-node", "--pictures", folder});
  ASSERT_EQ(result.exit, 0) << result.error;
  for (const char* name : {"/timeline.png", "/waits.png"}) {
    EXPECT_THAT(base::read_file(folder + name).value(), StartsWith("\x89PNG")) << name;
  }
  const Result nowhere = simulate({backlog(), "--policy", "one-node", "--pictures", "/proc/none"});
  EXPECT_EQ(nowhere.exit, 1);
  EXPECT_THAT(nowhere.error, HasSubstr("/proc/none"));
}

TEST_F(CliSimulateTest, RefusesATraceThatIsMissingOrWrong) {
  const Result missing = simulate({scratch_.path() + "/none.yaml"});
  EXPECT_EQ(missing.exit, 4);
  EXPECT_THAT(missing.error, HasSubstr("none.yaml' does not exist"));
  const Result wrong = simulate({trace("site: {nodes: 2}\nitems:\n  - {count: 0}\n")});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_THAT(wrong.error, HasSubstr("trace.yaml' line 3: items[0].count must be at least 1"));
  EXPECT_EQ(simulate({backlog(), "--policy", "best"}).exit, 2);
}

TEST_F(CliSimulateTest, TheExampleOfTheDocumentationRuns) {
  const Result result =
      simulate({MARGAY_SOURCE_DIR "/docs/trace.yaml", "--policy", "ours,one-node"});
  ASSERT_EQ(result.exit, 0) << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("625 items on 16 nodes"), HasSubstr("urgent  ours "),
                                HasSubstr("low     one-node "), Not(HasSubstr("one-gpu"))));
}

TEST_F(CliSimulateTest, HasHelpWithAnExampleAndAsksForNoSocket) {
  const Result result = simulate({"--help"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("Example:\n  margay simulate docs/trace.yaml"),
                                Not(HasSubstr("--socket"))));
}

}  // namespace
}  // namespace scheduler
