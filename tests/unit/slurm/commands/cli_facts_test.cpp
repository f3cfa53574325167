// What a look at the cluster runs of Slurm's commands, and what it makes of their output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "slurm/cluster_facts.h"
#include "tests/unit/slurm/commands/cli_commands.h"

namespace slurm {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

constexpr int64_t kNow = 1'700'000'000;

class CliFacts : public Commands {
 protected:
  CliFacts() {
    options_.now = [] { return kNow; };
    options_.accounting = Accounting::kOff;
    queue_shows(line("11", "RUNNING", "100", "n1", "2", "margay-lab-1-a1") +
                line("12", "PENDING", "7", "", "4", "other") +
                line("13", "PENDING", "9", "", "4", "margay-lab-2-a1") +
                line("14", "COMPLETED", "9", "n1", "4", "other"));
    becomes("sinfo",
            "printf 'n1|gpu:a100:4(S:0-1)|main|16|64000|4/12/0/16|gpu:a100:3(IDX:0-2)|"
            "mixed+drain|bad | fans\\n'\n"
            "printf 'n2|gpu:a100:4|main|16|64000|0/16/0/16|gpu:a100:0(IDX:N/A)|idle|none\\n'\n"
            "printf 'n2|gpu:a100:4|side|16|64000|0/16/0/16|gpu:a100:0(IDX:N/A)|idle|none\\n'\n");
    scontrol_says("");
  }

  void scontrol_says(const std::string& config) const {
    scratch_.write("config", config);
    becomes("scontrol",
            "[ \"$2\" = config ] && exec cat " + scratch_ / "config" +
                "\necho 'PartitionName=main Default=YES DefaultTime=01:00:00 MaxTime=02:00:00 "
                "PriorityTier=5 State=UP'");
  }

  // A job of one node, with four processors, of half an hour.
  static std::string line(const std::string& id, const std::string& state,
                          const std::string& priority, const std::string& node,
                          const std::string& gpus, const std::string& name) {
    const bool waits = state == "PENDING";
    std::string text;
    for (const std::string& field : {id,
                                     state,
                                     std::string("0"),
                                     std::string("0"),
                                     std::string("5"),
                                     std::string(waits ? "1700000060" : "6"),
                                     std::string("1700000600"),
                                     node,
                                     priority,
                                     "cpu=4,gres/gpu=" + gpus,
                                     std::string("N/A"),
                                     std::string("N/A"),
                                     std::string("N/A"),
                                     std::string("1"),
                                     std::string("1"),
                                     std::string("Priority"),
                                     std::string("ann"),
                                     std::string("lab"),
                                     std::string("normal"),
                                     std::string("main,side"),
                                     node,
                                     std::string("4"),
                                     std::string("30:00"),
                                     std::string(waits ? "0-9%2" : "N/A")}) {
      text += field + "\x1f";
    }
    return text + name + "\x1e\n";
  }
  void queue_shows(const std::string& text) const {
    scratch_.write("everybody", text);
    becomes("squeue", "cat " + scratch_ / "everybody");
  }
};

TEST_F(CliFacts, ShowNodesPartitionsAndEverybodysJobs) {
  const ClusterFacts facts = cluster().facts_with_limits();
  ASSERT_TRUE(facts.complete) << facts.problem;
  EXPECT_EQ(facts.site.now, kNow);
  const auto& nodes = facts.site.nodes.value->each;
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[0].use, NodeUse::kDrained);
  EXPECT_EQ(nodes[0].reason, "bad | fans");
  EXPECT_EQ(nodes[0].gpus_busy, 3);
  EXPECT_EQ(nodes[0].gpu_kinds.at("a100").gpus, 4);
  EXPECT_EQ(nodes[0].cpus_busy, 4);
  EXPECT_EQ(nodes[1].use, NodeUse::kUsable);
  EXPECT_EQ(nodes[1].reason, "");
  EXPECT_EQ(nodes[1].partitions, (Names{"main", "side"}));
  const PartitionFacts& main = facts.site.partitions.value->at("main");
  EXPECT_EQ(main.default_minutes, 60);
  EXPECT_EQ(main.most_minutes, 120);
  EXPECT_EQ(main.priority_tier, 5);
  ASSERT_THAT(facts.running, SizeIs(1));
  EXPECT_TRUE(facts.running[0].ours);
  EXPECT_EQ(facts.running[0].status.gpus, 2);
  EXPECT_EQ(facts.running[0].limit_end, kNow + 600);
  EXPECT_EQ(facts.running[0].limit_minutes, 30);
  EXPECT_EQ(facts.running[0].node_list, "n1");
  ASSERT_THAT(facts.waiting, SizeIs(2));
  EXPECT_EQ(facts.waiting[0].status.name, "margay-lab-2-a1") << "by priority";
  EXPECT_EQ(facts.waiting[1].expected_start, kNow + 60);
  EXPECT_EQ(facts.waiting[1].waiting_tasks, 10);
  EXPECT_EQ(facts.waiting[1].user, "ann");
  EXPECT_EQ(facts.waiting[1].partitions, (Names{"main", "side"}));
  EXPECT_FALSE(facts.waiting[1].ours);
  EXPECT_THAT(facts.unseen.at("n1").gpus, ElementsAre(kNow));
  EXPECT_THAT(facts.limits_problem, HasSubstr("slurm.accounting is off"));
}

TEST_F(CliFacts, RunThreeCommandsALook) {
  for (size_t look = 1; look <= 3; ++look) {
    cluster().facts();
    EXPECT_EQ(calls("squeue").size(), look);
    EXPECT_EQ(calls("sinfo").size(), look);
    EXPECT_EQ(calls("scontrol").size(), look);
  }
  EXPECT_THAT(calls("squeue").at(0), Not(Contains("--me")));
  EXPECT_THAT(calls("sacct"), IsEmpty());
}

TEST_F(CliFacts, LeaveTheListOfOurOwnJobsAlone) {
  cluster().facts();
  queue_holds({{"RUNNING", "margay-lab-1-a1"}});
  EXPECT_TRUE(cluster().states().fresh);
  EXPECT_THAT(cluster().states().jobs, SizeIs(1));
  EXPECT_THAT(calls("squeue").at(1), Contains("--me"));
}

TEST_F(CliFacts, SayWhatIsMissing) {
  ASSERT_TRUE(cluster().facts().complete);
  queue_shows(line("11", "RUNNING", "100", "n1", "2", "margay-lab-1-a1").substr(0, 40));
  EXPECT_THAT(cluster().facts().problem, HasSubstr("jobs: squeue's list ends in the middle"));
  becomes("squeue", "");
  becomes("sinfo", "echo 'slurm_load_node: gone' >&2; exit 1");
  EXPECT_THAT(cluster().facts().problem, HasSubstr("nodes: slurm_load_node: gone"));
  EXPECT_FALSE(cluster().facts().complete);
}

TEST_F(CliFacts, LeaveOutAJobOfSomebodyElsesThatCannotBeRead) {
  queue_shows(line("x", "RUNNING", "1", "n1", "1", "other") +
              line("12", "RUNNING", "1", "n1", "1", "other"));
  EXPECT_THAT(cluster().facts().running, SizeIs(1));
  queue_shows(line("x", "RUNNING", "1", "n1", "1", "margay-lab-1-a1"));
  EXPECT_THAT(cluster().facts().problem, HasSubstr("cannot be read: margay-lab-1-a1"));
}

TEST_F(CliFacts, AreNotAskedForBeyondTheAllowance) {
  options_.requests_per_minute = 12;  // two at once
  const ClusterFacts facts = cluster().facts();
  EXPECT_FALSE(facts.complete);
  EXPECT_THAT(facts.problem, HasSubstr("requests_per_minute"));
  EXPECT_THAT(calls("squeue"), IsEmpty());
}

TEST_F(CliFacts, AskForLimitsOnceAnHour) {
  options_.accounting = Accounting::kAuto;
  scontrol_says("ClusterName = bed\nAccountingStorageEnforce = associations,limits\n");
  becomes("sacctmgr", "case \"$4\" in qos) echo 'normal|||||||' ;; user) echo lab ;; esac");
  const ClusterFacts facts = cluster().facts_with_limits();
  EXPECT_EQ(facts.limits_problem, "");
  EXPECT_THAT(*facts.site.qos.value, ElementsAre(Key("normal")));
  EXPECT_EQ(facts.site.enforces_limits, true);
  now_ms_ += 59 * 60'000;
  EXPECT_EQ(cluster().facts_with_limits().limits_problem, "") << "they are kept";
  EXPECT_EQ(calls("sacctmgr").size(), 3U);
  now_ms_ += 60'000;
  cluster().facts_with_limits();
  EXPECT_EQ(calls("sacctmgr").size(), 6U);
}

TEST_F(CliFacts, SayThatLimitsAreUnknownWithoutAccounting) {
  options_.accounting = Accounting::kAuto;
  becomes("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  const ClusterFacts facts = cluster().facts_with_limits();
  EXPECT_TRUE(facts.complete) << facts.problem;
  EXPECT_THAT(facts.limits_problem, HasSubstr("no accounting (slurmdbd)"));
}

}  // namespace
}  // namespace slurm
