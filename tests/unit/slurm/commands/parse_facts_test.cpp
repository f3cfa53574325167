// What the commands of a real Slurm 22.05.8 printed of the cluster: nodes, partitions, QOS,
// accounts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "slurm/commands/parse.h"
#include "tests/unit/slurm/commands/recorded_commands.h"
#include "tests/unit/slurm/recorded_look.h"

namespace slurm {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Sinfo, CountsEachNodeOnce) {
  const NodeTotals found = parse_sinfo_nodes("n01|gpu:4\nn01|gpu:4\nn02|gpu:4\n");
  EXPECT_EQ(found.nodes, 2);
  EXPECT_EQ(found.gpus, 8);
}

TEST(Squeue, CountsGpusOfAKindOnce) {
  const QueueText queue = parse_squeue(record({"7", "RUNNING", "0", "0", "5", "6", "9", "n1", "1",
                                               "cpu=4,node=2,gres/gpu=8,gres/gpu:a100=8", "N/A",
                                               "N/A", "N/A", "2", "6", "None", "margay-lab-x"}),
                                       kPrefix);
  EXPECT_EQ(queue.jobs.at(0).gpus, 8);
}

TEST(Sinfo, CountsGpusOfKindsAndSockets) {
  EXPECT_EQ(
      parse_sinfo_nodes("a|gpu:a100:4(S:0,1),nvme:2\nb|gpu:2(S:0),gpu:v100:1\nc|(null)\n").gpus, 7);
}

TEST(Scontrol, TellsTheConfiguration) {
  const auto config = parse_config(recorded("config.txt"));
  EXPECT_EQ(config.at("MaxArraySize"), "10001");
  EXPECT_EQ(leading_number(config.at("MinJobAge")), 30);
  EXPECT_EQ(leading_number(config.at("MessageTimeout")), 10);
  EXPECT_EQ(config.at("EnforcePartLimits"), "NO");
  EXPECT_EQ(config.at("SlurmctldHost[0]"), "vm(127.0.0.1)");
  EXPECT_GT(leading_number(config.at("as of")), 1'700'000'000);
  EXPECT_FALSE(leading_number("INFINITE"));
}

TEST(Scontrol, TellsThePartitions) {
  std::map<std::string, std::string> states;
  for (const auto& [name, partition] : parse_partitions_text(recorded("partitions.txt"))) {
    states[name] = partition.state;
  }
  EXPECT_THAT(states, UnorderedElementsAre(Pair("main", "UP"), Pair("short", "UP"),
                                           Pair("closed", "DOWN")));
}

TEST(Scontrol, ShowsTheLimitsOfPartitions) {
  const auto partitions = parse_partitions_text(recorded("partitions.txt"));
  EXPECT_TRUE(partitions.at("main").is_default);
  EXPECT_EQ(partitions.at("main").most_minutes, std::nullopt);
  EXPECT_EQ(partitions.at("main").most_nodes, std::nullopt);
  EXPECT_EQ(partitions.at("main").nodes, 4);
  EXPECT_EQ(partitions.at("main").accounts, Names{});
  EXPECT_EQ(partitions.at("short").most_minutes, 5);
  EXPECT_EQ(partitions.at("short").most_nodes, 4);
  const PartitionFacts lab =
      parse_partitions_text(
          "PartitionName=lab AllowAccounts=research,physics DenyQos=low MaxTime=2-00:00:00 "
          "MaxMemPerNode=64000 MaxCPUsPerNode=8 State=UP\n")
          .at("lab");
  EXPECT_EQ(lab.accounts, (Names{"physics", "research"}));
  EXPECT_EQ(lab.denied_qos, Names{"low"});
  EXPECT_EQ(lab.most_minutes, 2880);
  EXPECT_EQ(lab.most_memory_mb, 64'000);
  EXPECT_EQ(lab.most_cpus, 8);
}

TEST(Sinfo, ShowsWhatANodeHasAndItsPartitions) {
  const NodeTotals found = parse_sinfo_nodes(
      "n01|gpu:4|main|16|64000\nn01|gpu:4|short|16|64000\nn02|(null)|main|8|32000\n");
  ASSERT_EQ(found.nodes, 2);
  EXPECT_EQ(found.gpus, 4);
  EXPECT_EQ(found.each.at(0).partitions, (Names{"main", "short"}));
  EXPECT_EQ(found.each.at(0).cpus, 16);
  EXPECT_EQ(found.each.at(1).memory_mb, 32'000);
  EXPECT_EQ(found.each.at(1).gpus, 0);
}

TEST(Release, IsReadFromTheVersionOfACommand) {
  EXPECT_EQ(release_of("slurm-wlm 22.05.8\n"), "22.05.8");
  EXPECT_EQ(release_of("slurm 24.11.5"), "24.11.5");
  EXPECT_EQ(release_of("nonsense"), "");
}

TEST(Sacctmgr, ShowsQosWithTheirLimits) {
  const QosByName all = parse_qos_text(recorded("qos.txt"));
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all.at("normal").limits.most_minutes, std::nullopt);
  EXPECT_EQ(all.at("normal").limits.most_submitted, std::nullopt);
  EXPECT_TRUE(all.at("normal").limits.of_job.empty());
  EXPECT_FALSE(all.at("normal").lifts_time || all.at("normal").over_partition);
  const QosFacts& brief = all.at("brief");
  EXPECT_EQ(brief.limits.most_minutes, 2);
  EXPECT_EQ(brief.limits.of_job, (Tres{{"cpu", 8}, {"mem", 8192}, {"node", 1}, {"gres/gpu", 2}}));
  EXPECT_EQ(brief.limits.of_node, (Tres{{"cpu", 4}}));
  EXPECT_EQ(brief.limits.of_user, (Tres{{"cpu", 16}, {"gres/gpu", 4}}));
  EXPECT_EQ(brief.limits.of_all, (Tres{{"node", 3}, {"gres/gpu", 8}}));
  EXPECT_EQ(brief.limits.most_submitted, 5);
  EXPECT_TRUE(brief.lifts_time && brief.lifts_nodes && brief.over_partition);
}

TEST(Sacctmgr, ShowsTheAssociationsOfTheUserAndOfAccountsWithTheirLimits) {
  const AssociationFacts facts = parse_associations_text(recorded("associations.txt"), "nobody");
  EXPECT_EQ(accounts_of(facts, "nobody"), (Names{"lab", "research"}));
  EXPECT_EQ(accounts_of(facts, "games"), Names{}) << "another user's";
  EXPECT_EQ(clusters_of(facts), (Names{"bed"}));
  const Association own = facts.all.back();
  EXPECT_EQ(own.account, "lab");
  EXPECT_EQ(own.user, "nobody");
  EXPECT_EQ(own.partition, "main");
  EXPECT_EQ(own.qos, (Names{"brief", "normal"}));
  EXPECT_EQ(own.limits.most_minutes, 1450);
  EXPECT_EQ(own.limits.of_job, (Tres{{"cpu", 4}}));
  EXPECT_EQ(own.limits.of_all, (Tres{{"cpu", 9}, {"mem", 1048576}}));
  EXPECT_EQ(own.limits.most_submitted, 7);
  const Association lab = facts.all.at(facts.all.size() - 2);
  EXPECT_EQ(lab.user, "");
  EXPECT_EQ(lab.parent, "research");
  EXPECT_EQ(lab.limits.most_minutes, 60);
  EXPECT_EQ(lab.limits.of_all, (Tres{{"gres/gpu", 2}}));
}

TEST(Sacctmgr, LinesOfAnotherShapeAreLeftOut) {
  EXPECT_TRUE(parse_qos_text("brief|x\n\nbrief\n").empty());
  EXPECT_TRUE(parse_associations_text("a|b|c\n", "ann").all.empty());
  EXPECT_EQ(parse_qos_text("shut||00:00:00|cpu=,=4,mem=xM,cpu=-1||||0\n").at("shut").limits.of_job,
            Tres{});
}

}  // namespace
}  // namespace slurm
