// What the shapes ask for, compared with the partitions and their nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/site_facts.h"

namespace slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Level = Finding::Level;

class ShapeLimits : public testing::Test {
 protected:
  ShapeLimits() {
    facts_.partitions.value = {
        {{"main",
          {.state = "UP", .is_default = true, .most_minutes = 2880, .most_nodes = 3, .nodes = 4}},
         {"tiny", {.state = "UP", .most_minutes = 60, .nodes = 1}}}};
    facts_.nodes.value = NodeTotals{.nodes = 4, .gpus = 12};
    for (const char* name : {"n1", "n2", "n3", "n4"}) {
      facts_.nodes.value->each.push_back({.name = name,
                                          .partitions = {"main"},
                                          .cpus = 64,
                                          .memory_mb = 192'000,
                                          .gpus = name == std::string("n4") ? 0 : 4});
    }
    facts_.nodes.value->each[0].partitions.insert("tiny");
    needs_.sources = {{"time", "slurm.options.time"},
                      {"mem", "slurm.options.mem"},
                      {"nodes", "slurm.nodes"},
                      {"cpus", "slurm.options.cpus-per-task"},
                      {"gpus", "slurm.gpus_per_node"}};
  }

  PartitionFacts& main() { return facts_.partitions.value->at("main"); }

  std::vector<Finding> judged() const {
    Findings findings;
    judge_shapes(facts_, {.shapes = {needs_}}, findings);
    return findings.all();
  }
  Finding judge() const {
    const auto all = judged();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Finding{} : all.front();
  }
  void accounts_are(const std::string& default_account) {
    facts_.associations.value = {.default_account = default_account,
                                 .all = {{.account = "root"},
                                         {.account = "institute", .parent = "root"},
                                         {.account = "lab", .parent = "institute"}}};
  }
  void expect_warning(const std::string& says, const std::string& advice) const {
    const Finding finding = judge();
    EXPECT_EQ(finding.level, Level::kWarning);
    EXPECT_THAT(finding.says, AllOf(HasSubstr("'main'"), HasSubstr(says)));
    EXPECT_THAT(finding.advice, HasSubstr(advice));
  }
  void expect_bad(const std::string& says, const std::string& source) const {
    const Finding finding = judge();
    EXPECT_EQ(finding.level, Level::kBad);
    EXPECT_EQ(finding.subject, "shape nodes");
    EXPECT_THAT(finding.says, AllOf(HasSubstr("'main'"), HasSubstr(says)));
    EXPECT_THAT(finding.advice, HasSubstr(source));
  }

  SiteFacts facts_;
  ShapeNeeds needs_{
      .shape = "nodes", .minutes = 2880, .nodes = 3, .cpus = 64, .memory_mb = 192'000, .gpus = 4};
};

TEST_F(ShapeLimits, AShapeThatFitsThePartitionExactlyIsGood) {
  EXPECT_EQ(judge().level, Level::kGood);
}

TEST_F(ShapeLimits, TimeAboveThePartitionsIsBadWithBothAndTheKey) {
  needs_.minutes = 2881;
  expect_bad("asks for 48 h 1 min, and its MaxTime is 48 h", "slurm.options.time");
  needs_.minutes = -1;
  expect_bad("asks for unlimited time", "slurm.options.time");
  main().most_minutes = std::nullopt;
  EXPECT_EQ(judge().level, Level::kGood);
}

TEST_F(ShapeLimits, MoreNodesThanItHasOrAllowsAreBad) {
  needs_.nodes = 5;
  needs_.gpus = 0;
  expect_bad("asks for 5 nodes, and it has 4", "slurm.nodes");
  needs_.nodes = 4;
  expect_bad("asks for 4 nodes, and its MaxNodes is 3", "slurm.nodes");
}

TEST_F(ShapeLimits, MoreOfANodeThanTheLargestHasIsBad) {
  needs_.memory_mb = 640 * 1024;
  expect_bad("asks for 640 GB a node, and its largest node has 187.5 GB", "slurm.options.mem");
  needs_.memory_mb = 1024;
  needs_.cpus = 80;
  expect_bad("asks for 80 CPUs a node, and its largest node has 64 CPUs", "cpus-per-task");
  needs_.cpus = 1;
  needs_.gpus = 8;
  expect_bad("asks for 8 GPUs a node, and its largest node has 4 GPUs", "slurm.gpus_per_node");
  needs_.gpus = 1;
  main().most_memory_mb = 512;
  expect_bad("its MaxMemPerNode is 512 MB", "slurm.options.mem");
}

TEST_F(ShapeLimits, TooFewNodesWithEnoughGpusAreBad) {
  needs_.nodes = 4;
  main().most_nodes = std::nullopt;
  expect_bad("3 of its nodes have as many, not 4", "slurm.gpus_per_node");
}

TEST_F(ShapeLimits, WhatNoNodeHasTogetherIsBad) {
  needs_.nodes = 1;
  for (NodeFacts& node : facts_.nodes.value->each) {
    if (node.gpus > 0) node.memory_mb = 8'000;
  }
  expect_bad("which 0 of its nodes have together", "slurm.options.mem");
}

TEST_F(ShapeLimits, MegabytesThatMeanGigabytesAreAWarning) {
  needs_.memory_mb = 32;
  const auto all = judged();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].level, Level::kWarning);
  EXPECT_THAT(all[0].says, HasSubstr("32 MB"));
  EXPECT_THAT(all[0].advice, AllOf(HasSubstr("32G"), HasSubstr("slurm.options.mem")));
  EXPECT_EQ(all[1].level, Level::kGood);
}

TEST_F(ShapeLimits, AnAccountOrQosThatThePartitionDoesNotAllowIsBad) {
  accounts_are("");
  needs_.account = "lab";
  needs_.sources["account"] = "slurm.options.account";
  main().accounts = {"physics"};
  expect_bad("its AllowAccounts (physics) lacks 'lab'", "slurm.options.account");
  main().accounts = {"lab"};
  EXPECT_EQ(judge().level, Level::kGood);
  needs_.qos = "low";
  needs_.sources["qos"] = "slurm.options.qos";
  main().denied_qos = {"low"};
  expect_bad("its DenyQos has 'low'", "slurm.options.qos");
}

TEST_F(ShapeLimits, OneOfSeveralPartitionsIsEnough) {
  needs_.partitions = {"tiny"};
  needs_.gpus = 0;
  const Finding bad = judge();
  EXPECT_EQ(bad.level, Level::kBad);
  EXPECT_THAT(bad.says, AllOf(HasSubstr("'tiny'"), Not(HasSubstr("'main'"))));
  needs_.partitions = {"main", "tiny"};
  EXPECT_EQ(judge().level, Level::kGood);
}

TEST_F(ShapeLimits, ALimitThatAQosMayOverrideIsAWarning) {
  needs_.minutes = 2881;
  needs_.qos = "long";
  EXPECT_EQ(judge().level, Level::kWarning);
  EXPECT_THAT(judge().advice, HasSubstr("QOS 'long'"));
  needs_.gpus = 8;
  EXPECT_EQ(judge().level, Level::kBad);
}

TEST_F(ShapeLimits, WhatAQosOverridesIsKnownByItsFlags) {
  needs_.minutes = 2881;
  needs_.qos = "long";
  facts_.qos.value = {{"long", {.lifts_time = true}}, {"normal", {}}};
  EXPECT_EQ(judge().level, Level::kGood);
  needs_.nodes = 4;
  needs_.gpus = 0;
  expect_bad("its MaxNodes is 3", "slurm.nodes");
  facts_.qos.value->at("long").lifts_nodes = true;
  EXPECT_EQ(judge().level, Level::kGood);
  needs_.qos = "";
  expect_bad("its MaxTime is 48 h", "slurm.options.time");
}

TEST_F(ShapeLimits, TheDefaultAccountIsComparedWithThePartitionsList) {
  main().accounts = {"physics"};
  EXPECT_EQ(judge().level, Level::kGood) << "which account it is is not known";
  accounts_are("lab");
  expect_bad("its AllowAccounts (physics) lacks 'lab'", "slurm.options.account");
}

TEST_F(ShapeLimits, APartitionThatAllowsAnAccountAllowsThoseBelowItInWhateverCase) {
  accounts_are("lab");
  for (const char* allowed : {"lab", "LAB", "institute", "Root"}) {
    main().accounts = {"physics", allowed};
    EXPECT_EQ(judge().level, Level::kGood) << allowed;
  }
  needs_.account = "Lab";
  EXPECT_EQ(judge().level, Level::kGood);
}

TEST_F(ShapeLimits, APartitionThatDeniesAnAccountIsBadAndOneAboveItAWarning) {
  accounts_are("lab");
  main().denied_accounts = {"physics"};
  EXPECT_EQ(judge().level, Level::kGood);
  main().denied_accounts = {"Lab"};
  expect_bad("its DenyAccounts has 'lab'", "slurm.options.account");
  main().denied_accounts = {"Institute"};
  expect_warning("its DenyAccounts has 'institute', above 'lab'", "older ones do not");
}

TEST_F(ShapeLimits, AnAccountOfWhichNotAllAboveAreKnownIsAWarningAtMost) {
  accounts_are("lab");
  facts_.associations.value->all.erase(facts_.associations.value->all.begin());
  main().accounts = {"physics"};
  expect_warning("its AllowAccounts (physics) lacks 'lab'", "no account above 'lab'");
  facts_.associations.value.reset();
  needs_.account = "lab";
  expect_warning("its AllowAccounts (physics) lacks 'lab'", "no account above 'lab'");
  main().accounts = {};
  main().denied_accounts = {"physics"};
  EXPECT_EQ(judge().level, Level::kGood);
}

TEST_F(ShapeLimits, AQosIsComparedWithThePartitionsListWithoutCase) {
  needs_.qos = "low";
  main().qos = {"Low"};
  EXPECT_EQ(judge().level, Level::kGood);
  main().qos = {};
  main().denied_qos = {"LOW"};
  expect_bad("its DenyQos has 'low'", "slurm.options.qos");
}

TEST_F(ShapeLimits, WhatIsNotKnownIsNotJudged) {
  facts_.nodes.value->each.clear();
  main() = {.state = "UP", .is_default = true};
  EXPECT_EQ(judge().level, Level::kGood);
  facts_.partitions.value.reset();
  EXPECT_TRUE(judged().empty());
}

}  // namespace
}  // namespace slurm
