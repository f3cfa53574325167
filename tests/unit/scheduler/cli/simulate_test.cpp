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

TEST_F(CliSimulateTest, ShowsWhatIfBesideTheTraceAsItIs) {
  const Result result = simulate({backlog(), "--what-if", "site.nodes=18", "--what-if",
                                  "site.nodes=8; policy.classes.low.cap = node"});
  ASSERT_EQ(result.exit, 0) << result.error;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("500 items on 16 nodes"), HasSubstr("POLICY  TRACE "),
                    HasSubstr("ours    as it is "), HasSubstr("128.1 h"),
                    HasSubstr("ours    site.nodes=18 "), HasSubstr("112.1 h"),
                    HasSubstr("ours    site.nodes=8; policy.classes.low.cap=node "),
                    HasSubstr("low    ours    site.nodes=18 "), Not(HasSubstr("one-gpu"))));
  const Result both = simulate({backlog(), "--what-if", "site.nodes=18", "--policy",
                                "one-gpu,one-node", "--json", "--pictures", scratch_.path()});
  ASSERT_EQ(both.exit, 0) << both.error;
  const nlohmann::json rows = nlohmann::json::parse(both.out).at("policies");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows.at(1).at("policy"), "one-gpu");
  EXPECT_EQ(rows.at(1).at("what_if"), "site.nodes=18");
  EXPECT_EQ(rows.at(2).at("what_if"), "");
}

TEST_F(CliSimulateTest, RefusesAChangeOfWhatIsNotThere) {
  const Result unknown = simulate({backlog(), "--what-if", "site.node=18"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.error, HasSubstr("trace.yaml with site.node=18': unknown key 'site.node'; "
                                       "did you mean 'nodes'?"));
  const Result wrong = simulate({backlog(), "--what-if", "policy.classes.urgent.cap=4 knots"});
  EXPECT_EQ(wrong.exit, 2);
  EXPECT_THAT(wrong.error, HasSubstr("policy.classes.urgent.cap must be gpu, node, a number of "
                                     "nodes such as '4 nodes', or all; not '4 knots'"));
  for (const char* change : {"site.nodes", "=18", "site.nodes=18;", ""}) {
    const Result none = simulate({backlog(), "--what-if", change});
    EXPECT_EQ(none.exit, 2) << change;
    EXPECT_THAT(none.error, HasSubstr("expected KEY=VALUE, such as site.nodes=18")) << change;
  }
  EXPECT_EQ(simulate({trace("site: {nodes: 0}\n"), "--what-if", "site.nodes=1"}).exit, 1);
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

TEST_F(CliSimulateTest, HasHelpWithAnExample) {
  const Result result = simulate({"--help"});
  EXPECT_EQ(result.exit, 0);
  EXPECT_THAT(result.out, HasSubstr("Example:\n  margay simulate docs/trace.yaml"));
}

TEST_F(CliSimulateTest, RefusesNoTraceAndTwo) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {backlog(), "--from-history", "30d"}}) {
    const Result result = simulate(arguments);
    EXPECT_EQ(result.exit, 2);
    EXPECT_THAT(result.error, HasSubstr("give either a trace or --from-history"));
  }
  EXPECT_EQ(simulate({backlog(), "--save", "x"}).exit, 2);
  const Result soon = simulate({"--from-history", "soon"});
  EXPECT_EQ(soon.exit, 2);
  EXPECT_THAT(soon.error, HasSubstr("invalid duration 'soon'"));
}

}  // namespace
}  // namespace scheduler
