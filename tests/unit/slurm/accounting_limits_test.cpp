// What a shape asks for, compared with the limits of the QOS and the association of its jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/site_facts.h"

namespace slurm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Level = Finding::Level;

class AccountingLimits : public testing::Test {
 protected:
  AccountingLimits() {
    facts_.user = "ann";
    facts_.enforces_limits = true;
    facts_.partitions.value = {{"main", {.state = "UP", .is_default = true, .nodes = 8}}};
    facts_.nodes.value = NodeTotals{.nodes = 8, .gpus = 32};
    facts_.qos.value = {{"normal", {}}, {"brief", {}}, {"gate", {}}};
    facts_.associations.value = {
        .default_account = "lab",
        .all = {{.account = "root"},
                {.account = "institute", .parent = "root"},
                {.account = "lab", .parent = "institute"},
                {.account = "lab", .user = "ann", .qos = {"normal", "brief"}},
                {.account = "other", .user = "ann", .qos = {"brief"}}}};
    needs_.sources = {{"time", "slurm.options.time"},  {"mem", "slurm.options.mem"},
                      {"nodes", "slurm.nodes"},        {"cpus", "slurm.options.cpus-per-task"},
                      {"gpus", "slurm.gpus_per_node"}, {"jobs", "slurm.max_jobs"}};
  }

  JobLimits& qos(const std::string& name) { return facts_.qos.value->at(name).limits; }
  JobLimits& association(const std::string& account, const std::string& user = "") {
    for (Association& one : facts_.associations.value->all) {
      if (one.account == account && one.user == user) return one.limits;
    }
    throw std::runtime_error("no such association");
  }

  std::vector<Finding> judged() const {
    Findings findings;
    judge_shapes(facts_, {.shapes = {needs_}}, findings);
    return findings.all();
  }
  void expect_good() const {
    for (const Finding& finding : judged()) EXPECT_EQ(finding.level, Level::kGood) << finding.says;
  }
  void expect_bad(const std::string& says, const std::string& source) const {
    const auto all = judged();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].level, Level::kBad);
    EXPECT_THAT(all[0].says, HasSubstr(says));
    EXPECT_THAT(all[0].advice, HasSubstr(source));
  }
  void expect_slow(const std::string& says, const std::string& source) const {
    const auto all = judged();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].level, Level::kGood);
    EXPECT_EQ(all[1].level, Level::kWarning);
    EXPECT_THAT(all[1].says, HasSubstr(says));
    EXPECT_THAT(all[1].advice, HasSubstr(source));
  }

  SiteFacts facts_;
  ShapeNeeds needs_{.shape = "nodes",
                    .minutes = 120,
                    .nodes = 2,
                    .cpus = 16,
                    .memory_mb = 64 * 1024,
                    .gpus = 4,
                    .waiting = 4,
                    .jobs = 10};
};

TEST_F(AccountingLimits, WithoutAnyAShapeIsGood) { expect_good(); }

TEST_F(AccountingLimits, TimeAboveAQosIsBadWithBothAndTheKey) {
  qos("normal").most_minutes = 60;
  expect_bad("asks for 2 h, and MaxWall of QOS 'normal' is 60 min", "slurm.options.time");
  qos("normal").most_minutes = 120;
  expect_good();
  needs_.minutes = -1;
  expect_bad("asks for unlimited time", "slurm.options.time");
}

TEST_F(AccountingLimits, TimeAboveAnAssociationIsBadWithBothAndTheKey) {
  association("lab", "ann").most_minutes = 60;
  expect_bad("MaxWall of ann's association with account 'lab' is 60 min", "slurm.options.time");
}

TEST_F(AccountingLimits, ATimeThatSlurmChoosesIsNotJudged) {
  needs_.minutes = 0;
  qos("normal").most_minutes = 1;
  expect_good();
}

TEST_F(AccountingLimits, MoreThanAJobMayHaveIsBad) {
  JobLimits& limits = qos("normal");
  limits.of_job = {{"gres/gpu", 7}};
  expect_bad("asks for 8 GPUs a job, and MaxTRESPerJob of QOS 'normal' is 7 GPUs",
             "slurm.gpus_per_node");
  limits.of_job = {{"cpu", 31}};
  expect_bad("asks for 32 CPUs a job", "slurm.options.cpus-per-task");
  limits.of_job = {{"mem", 100 * 1024}};
  expect_bad("asks for 128 GB a job, and MaxTRESPerJob of QOS 'normal' is 100 GB",
             "slurm.options.mem");
  limits.of_job = {{"node", 1}};
  expect_bad("asks for 2 nodes a job", "slurm.nodes");
  limits.of_job = {{"gres/gpu", 8}, {"cpu", 32}, {"mem", 128 * 1024}, {"node", 2}};
  expect_good();
}

TEST_F(AccountingLimits, OneIsNotWrittenAsSeveral) {
  qos("normal").of_job = {{"gres/gpu", 1}};
  expect_bad("MaxTRESPerJob of QOS 'normal' is 1 GPU", "slurm.gpus_per_node");
}

TEST_F(AccountingLimits, MoreThanANodeMayHaveIsBad) {
  association("lab", "ann").of_node = {{"cpu", 15}};
  expect_bad("asks for 16 CPUs a node, and MaxTRESPerNode of ann's association",
             "slurm.options.cpus-per-task");
}

TEST_F(AccountingLimits, ASumThatOneJobExceedsIsBad) {
  qos("normal").of_user = {{"gres/gpu", 7}};
  expect_bad("asks for 8 GPUs a job, and MaxTRESPerUser of QOS 'normal' is 7 GPUs",
             "slurm.gpus_per_node");
  qos("normal").of_user.clear();
  association("institute").of_all = {{"gres/gpu", 6}};
  expect_bad("GrpTRES of account 'institute' is 6 GPUs", "slurm.gpus_per_node");
}

TEST_F(AccountingLimits, ASumThatLetsFewerRunThanWaitIsAWarning) {
  association("lab").of_all = {{"gres/gpu", 24}};
  expect_slow("GrpTRES of account 'lab' is 24 GPUs: at most 3 of its jobs run at once",
              "slurm.gpus_per_node");
  association("institute").of_all = {{"gres/gpu", 16}};
  expect_slow("GrpTRES of account 'institute' is 16 GPUs: at most 2", "slurm.gpus_per_node");
  needs_.waiting = 2;
  expect_good();
}

TEST_F(AccountingLimits, NodesThatJobsMayShareAreJudgedForASingleJobAlone) {
  association("lab").of_all = {{"node", 3}};
  qos("normal").of_user = {{"node", 2}};
  expect_good();
  needs_.nodes = 3;
  expect_bad("asks for 3 nodes a job, and MaxTRESPerUser of QOS 'normal' is 2 nodes",
             "slurm.nodes");
}

TEST_F(AccountingLimits, FewerSubmittedJobsThanMargayMayHaveInSlurmIsAWarning) {
  association("lab", "ann").most_submitted = 9;
  expect_slow(
      "MaxSubmitJobs of ann's association with account 'lab' is 9, and Margay may have 10 jobs in "
      "Slurm at once",
      "slurm.max_jobs");
  association("lab", "ann").most_submitted = 10;
  expect_good();
}

TEST_F(AccountingLimits, AnAssociationThatTakesNoJobIsBad) {
  association("lab", "ann").most_submitted = 0;
  expect_bad("MaxSubmitJobs of ann's association with account 'lab' is 0", "another");
}

TEST_F(AccountingLimits, AQosComesBeforeTheAssociation) {
  qos("normal").most_minutes = 240;
  qos("normal").of_all = {{"gres/gpu", 100}};
  association("lab", "ann").most_minutes = 60;
  association("lab").of_all = {{"gres/gpu", 2}};
  expect_good();
}

TEST_F(AccountingLimits, ThePartitionsQosComesBeforeTheJobsUnlessThatOverridesIt) {
  facts_.partitions.value->at("main").own_qos = "gate";
  qos("gate").most_minutes = 60;
  qos("normal").most_minutes = 240;
  expect_bad("MaxWall of QOS 'gate' is 60 min", "slurm.options.time");
  facts_.qos.value->at("normal").over_partition = true;
  expect_good();
}

TEST_F(AccountingLimits, AJobWithoutAQosHasThatOfItsAssociation) {
  qos("brief").most_minutes = 60;
  expect_good();
  facts_.associations.value->all[3].default_qos = "brief";
  expect_bad("QOS 'brief'", "slurm.options.time");
  needs_.qos = "normal";
  expect_good();
  needs_.qos = "";
  needs_.account = "other";
  expect_bad("QOS 'brief'", "slurm.options.time");  // the only one of that association
}

TEST_F(AccountingLimits, AnAssociationOfThePartitionComesBeforeOneOfAny) {
  facts_.associations.value->all.push_back({.account = "lab",
                                            .user = "ann",
                                            .partition = "main",
                                            .qos = {"normal", "brief"},
                                            .limits = {.most_minutes = 60}});
  association("lab", "ann").most_minutes = 240;
  expect_bad("is 60 min", "slurm.options.time");
  facts_.associations.value->all.back().partition = "elsewhere";
  expect_good();
}

TEST_F(AccountingLimits, OfNobodyKnownOnlyTheNamedQosLimits) {
  facts_.associations.value.reset();
  qos("normal").most_minutes = 60;
  expect_good();
  needs_.qos = "normal";
  expect_bad("QOS 'normal'", "slurm.options.time");
  facts_.qos.value.reset();
  expect_good();
}

TEST_F(AccountingLimits, AreNotJudgedWhereSlurmAppliesNone) {
  qos("normal").most_minutes = 60;
  facts_.enforces_limits = false;
  expect_good();
}

TEST_F(AccountingLimits, AreWarningsWhereItIsNotKnownWhetherSlurmAppliesAny) {
  facts_.enforces_limits.reset();
  expect_good();
  qos("normal").most_minutes = 60;
  const auto all = judged();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].level, Level::kWarning);
  EXPECT_THAT(all[0].says, HasSubstr("asks for 2 h, and MaxWall of QOS 'normal' is 60 min"));
  EXPECT_THAT(all[0].advice, AllOf(HasSubstr("if Slurm applies limits (AccountingStorageEnforce)"),
                                   HasSubstr("slurm.options.time")));
  qos("normal").most_minutes.reset();
  qos("normal").most_submitted = 3;
  expect_slow("MaxSubmitJobs of QOS 'normal' is 3", "if Slurm applies limits");
  facts_.nodes.value->each.push_back({.name = "n1", .partitions = {"main"}, .cpus = 8, .gpus = 4});
  expect_bad("its largest node has 8 CPUs", "slurm.options.cpus-per-task");
}

TEST_F(AccountingLimits, AnAccountIsFoundInWhateverCaseItIsWritten) {
  needs_.account = "Lab";
  association("lab", "ann").most_minutes = 60;
  expect_bad("MaxWall of ann's association with account 'lab' is 60 min", "slurm.options.time");
}

TEST_F(AccountingLimits, AccountsThatAreEachOthersParentsAreFollowedOnce) {
  facts_.associations.value->all[0].parent = "lab";
  association("lab").of_all = {{"gres/gpu", 2}};
  expect_bad("account 'lab'", "slurm.gpus_per_node");
}

}  // namespace
}  // namespace slurm
