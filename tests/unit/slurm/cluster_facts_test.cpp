// What a look at a cluster is made of: shares, Slurm's order, and what no job is shown for.
#include "slurm/cluster_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slurm/gpu_count.h"
#include "slurm/job_states.h"

namespace slurm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(GpuKinds, AreCountedApart) {
  using Kinds = std::map<std::string, int>;
  EXPECT_EQ(gpu_kinds_in("gpu:a100:4(S:0,1),gpu:v100:2,nvme:1"), (Kinds{{"a100", 4}, {"v100", 2}}));
  EXPECT_EQ(gpu_kinds_in("gpu:4(S:0-1)"), (Kinds{{"", 4}}));
  EXPECT_EQ(gpu_kinds_in("cpu=4,gres/gpu=8,gres/gpu:a100=8"), (Kinds{{"a100", 8}}));
  EXPECT_EQ(gpu_kinds_in("(null)"), Kinds{});
}

TEST(GpuKinds, ThatSlurmHasNoNameForAreCounted) {
  EXPECT_EQ(gpus_in("gpu:(null):2(IDX:0-1)"), 2);
  EXPECT_EQ(gpus_in("gpu:(null):0(IDX:N/A)"), 0);
  EXPECT_EQ(gpu_kinds_in("gpu:(null):2(IDX:0-1)"), (std::map<std::string, int>{{"", 2}}));
}

// --- nodes -------------------------------------------------------------------------------------

TEST(NodeState, IsWhatTheNodeIsGoodFor) {
  EXPECT_EQ(use_of_node({"IDLE"}), NodeUse::kUsable);
  EXPECT_EQ(use_of_node({"MIXED", "PLANNED"}), NodeUse::kUsable);
  EXPECT_EQ(use_of_node({"IDLE", "CLOUD", "POWERED_DOWN"}), NodeUse::kUsable);
  EXPECT_EQ(use_of_node({"ALLOCATED", "NEWFLAG"}), NodeUse::kUsable);
  EXPECT_EQ(use_of_node({"MIXED", "DRAIN"}), NodeUse::kDrained);
  EXPECT_EQ(use_of_node({"DOWN", "DRAIN"}), NodeUse::kDown);
  EXPECT_EQ(use_of_node({"IDLE", "NOT_RESPONDING"}), NodeUse::kDown);
  EXPECT_EQ(use_of_node({"IDLE", "RESERVED"}), NodeUse::kReserved);
  EXPECT_EQ(use_of_node({"IDLE", "MAINTENANCE"}), NodeUse::kReserved);
  EXPECT_EQ(use_of_node({"NEWBASE"}), NodeUse::kDown);
  EXPECT_EQ(to_string(NodeUse::kDrained), "drained");
}

TEST(NodeState, CountsTheBusyGpusOfEachKind) {
  NodeFacts node;
  set_gpus("gpu:a100:4(S:0-1),gpu:v100:2(S:0)", "gpu:a100:3(IDX:0-2),gpu:v100:0(IDX:N/A)", node);
  EXPECT_EQ(node.gpus, 6);
  EXPECT_EQ(node.gpus_busy, 3);
  EXPECT_EQ(node.gpu_kinds.at("a100").gpus, 4);
  EXPECT_EQ(node.gpu_kinds.at("a100").busy, 3);
  EXPECT_EQ(node.gpu_kinds.at("v100").busy, 0);
}

// --- jobs --------------------------------------------------------------------------------------

QueuedJob job_in_state(const std::string& id, JobState state) {
  QueuedJob made;
  made.status = {.job_id = id, .name = "job" + id, .state = state};
  return made;
}

QueuedJob runs_on(const std::string& nodes, int gpus, int64_t cpus) {
  QueuedJob made = job_in_state("1", JobState::kRunning);
  made.node_list = nodes;
  made.status.gpus = gpus;
  made.cpus = cpus;
  return made;
}

TEST(Shares, AreAsTheClusterSaysAndElseEven) {
  QueuedJob uneven = runs_on("n[1-2]", 3, 9);
  const auto share = [](const std::string& node, int gpus, int64_t cpus) {
    return AllOf(Field(&NodeShare::node, node), Field(&NodeShare::gpus, gpus),
                 Field(&NodeShare::cpus, cpus));
  };
  EXPECT_THAT(shares_of(uneven), ElementsAre(share("n1", 2, 5), share("n2", 1, 4)));
  uneven.gpus_by_node = {0, 3};
  EXPECT_THAT(shares_of(uneven), ElementsAre(share("n1", 0, 5), share("n2", 3, 4)));
  EXPECT_THAT(shares_of(job_in_state("1", JobState::kRunning)), IsEmpty());
  EXPECT_THAT(shares_of(runs_on("n[1-", 4, 4)), IsEmpty());
}

TEST(QueueOrder, IsByTierThenByPriorityThenByAge) {
  ClusterFacts facts;
  facts.site.partitions.value = {{"main", {.state = "UP", .priority_tier = 1}},
                                 {"fast", {.state = "UP", .priority_tier = 9}}};
  std::vector<QueuedJob> jobs;
  const auto add = [&](const std::string& id, int64_t priority, const Names& partitions) {
    jobs.push_back(job_in_state(id, JobState::kPending));
    jobs.back().priority = priority;
    jobs.back().partitions = partitions;
  };
  add("12", 100, {"main"});
  add("9", 100, {"main"});
  add("10", 500, {"main"});
  add("11", 1, {"fast", "main"});
  jobs.push_back(job_in_state("1", JobState::kRunning));
  jobs.push_back(job_in_state("2", JobState::kCompleting));
  jobs.push_back(job_in_state("3", JobState::kCompleted));
  set_jobs(jobs, facts);
  std::vector<std::string> order;
  for (const QueuedJob& one : facts.waiting) order.push_back(one.status.job_id);
  EXPECT_THAT(order, ElementsAre("11", "10", "9", "12"));
  EXPECT_THAT(facts.running, SizeIs(2)) << "what completes still has its nodes";
}

// --- what is busy without a job ----------------------------------------------------------------

class Unseen : public testing::Test {
 protected:
  Unseen() {
    facts_.site.nodes.value =
        NodeTotals{.nodes = 1, .gpus = 4, .each = {{.name = "n1", .cpus = 16, .gpus = 4}}};
  }
  NodeFacts& node() { return facts_.site.nodes.value->each.at(0); }
  // Returns since when each unseen GPU is busy.
  std::vector<int64_t> look(int busy, int64_t now) {
    node().gpus_busy = busy;
    unseen_ = unseen_use(unseen_, facts_, now);
    return unseen_["n1"].gpus;
  }

  ClusterFacts facts_;
  UnseenByNode unseen_;
};

TEST_F(Unseen, GpusAreBusySinceTheyWereFirstSeenSo) {
  EXPECT_THAT(look(2, 100), ElementsAre(100, 100));
  EXPECT_THAT(look(3, 200), ElementsAre(100, 100, 200));
  EXPECT_THAT(look(2, 300), ElementsAre(100, 200)) << "the oldest has ended";
  EXPECT_THAT(look(0, 400), IsEmpty());
  EXPECT_THAT(look(1, 500), ElementsAre(500));
}

TEST_F(Unseen, GpusAreThoseThatNoJobIsShownFor) {
  facts_.running = {runs_on("n[1-2]", 4, 2)};
  EXPECT_THAT(look(3, 100), ElementsAre(100));
  EXPECT_THAT(look(2, 100), IsEmpty());
  EXPECT_THAT(look(1, 100), IsEmpty()) << "a job that has ended since it was listed";
}

TEST_F(Unseen, ProcessorsCountAsWell) {
  node().cpus_busy = 3;
  facts_.running = {runs_on("n1", 0, 2)};
  EXPECT_THAT(unseen_use({}, facts_, 7).at("n1").cpus, ElementsAre(7));
}

TEST_F(Unseen, NodesThatAreNotKnownChangeNothing) {
  EXPECT_THAT(look(1, 100), ElementsAre(100));
  facts_.site.nodes.value.reset();
  EXPECT_EQ(unseen_use(unseen_, facts_, 200), unseen_);
}

// --- limits ------------------------------------------------------------------------------------

TEST(Limits, ThatAreNotKnownAreExplained) {
  SiteFacts site;
  EXPECT_THAT(why_limits_are_unknown(site), HasSubstr("no accounting (slurmdbd)"));
  site.accounting_use = AccountingUse::kOff;
  EXPECT_THAT(why_limits_are_unknown(site), HasSubstr("slurm.accounting is off"));
  site.accounting_use = AccountingUse::kAsked;
  EXPECT_THAT(why_limits_are_unknown(site), HasSubstr("not asked yet"));
  site.qos.problem = "slurmdbd does not answer";
  EXPECT_EQ(why_limits_are_unknown(site), "slurmdbd does not answer");
  site.qos = {.value = QosByName()};
  site.associations.value = AssociationFacts();
  EXPECT_EQ(why_limits_are_unknown(site), "");
  site.associations.value->all = {{.cluster = "a"}, {.cluster = "b"}};
  EXPECT_THAT(why_limits_are_unknown(site), HasSubstr("a, b"));
  site.enforces_limits = false;
  EXPECT_EQ(why_limits_are_unknown(site), "") << "Slurm applies none";
}

}  // namespace
}  // namespace slurm
