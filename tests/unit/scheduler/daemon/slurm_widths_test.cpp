// On a cluster whose GPUs are known, each item gets the width that the policy chooses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "db/measures.h"
#include "db/sqlite.h"
#include "tests/unit/scheduler/daemon/known_searches_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DaemonWidthsTest : public KnownSearchesFixture {
 protected:
  std::string nodes_of(int64_t id) {
    const std::string script = attempt(id).script;
    const auto at = script.find("--nodes=");
    return script.substr(at + 8, script.find('\n', at) - at - 8);
  }
};

TEST_F(DaemonWidthsTest, AShortQueueIsWideAndABacklogIsNot) {
  const auto first = enqueue_known("a.mrc", Priority::kNormal);
  ticks(1);
  EXPECT_EQ(attempt(first).shape, "1 node (4 GPUs)");
  EXPECT_EQ(attempt(first).gpus, 4);
  EXPECT_THAT(attempt(first).explanation,
              AllOf(HasSubstr("16.0 GPU hours (576,000 correlations at 10/s, 3 past runs"),
                    HasSubstr("time until done: 1 GPU")));
  std::vector<int64_t> more;
  for (int i = 0; i < 40; ++i) {
    more.push_back(enqueue_known(std::to_string(i) + ".mrc", Priority::kNormal));
  }
  ticks(1);
  EXPECT_EQ(attempt(more.front()).shape, "1 GPU");
}

TEST_F(DaemonWidthsTest, AnUrgentItemGetsTheNodesThatMakeItFirstDone) {
  const auto urgent = enqueue_known("a.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_EQ(attempt(urgent).shape, "4 nodes (16 GPUs)");
  EXPECT_EQ(nodes_of(urgent), "4");
  EXPECT_EQ(attempt(urgent).nodes, 4);
  const auto second = enqueue_known("b.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_THAT(attempt(second).explanation, HasSubstr("for its GPUs")) << "the first has all GPUs";
}

TEST_F(DaemonWidthsTest, WhereWidthsAreFixedADeadlineThatCannotBeMetIsKnown) {
  config_.policy.widths = WidthsBy::kFixed;
  restart();
  const auto late = enqueue_known("a.mrc", Priority::kNormal);
  const auto in_time = enqueue_known("b.mrc", Priority::kNormal);
  commands_->finish_by(user_, late, clock_.now() + 8 * 3600);
  commands_->finish_by(user_, in_time, clock_.now() + 48 * 3600);
  ticks(1);
  EXPECT_THAT(explained(late), HasSubstr("AT RISK: may be done up to "));
  EXPECT_THAT(explained(in_time), Not(HasSubstr("deadline")));
}

TEST_F(DaemonWidthsTest, WithoutTheFiguresEachGetsTheSitesWidth) {
  cluster_.cluster_facts.complete = false;
  cluster_.cluster_facts.problem = "sinfo: no answer";
  restart();
  const auto normal = enqueue_known("a.mrc", Priority::kNormal);
  ticks(1);
  EXPECT_EQ(attempt(normal).shape, "1 GPU");
  EXPECT_EQ(count_logged("sinfo: no answer"), 1);
  EXPECT_THAT(explained(normal), HasSubstr("sinfo: no answer"));
  cluster_.cluster_facts.complete = true;
  restart();
  const auto unread = enqueue("b.mrc").id;
  ticks(1);
  EXPECT_EQ(attempt(unread).shape, "1 GPU") << "the size of its micrograph is not known";
  EXPECT_THAT(explained(unread), HasSubstr("the size of its micrograph is not known"));
  {
    const std::scoped_lock lock(database_->mutex());
    database_->connection().execute("UPDATE templates SET counted_by = ''");
  }
  restart();
  const auto uncounted = enqueue_known("c.mrc", Priority::kNormal);
  ticks(1);
  EXPECT_THAT(explained(uncounted), HasSubstr("register the template again"));
}

TEST_F(DaemonWidthsTest, AShapeInTheConfigurationIsForAllButUrgentItems) {
  config_.slurm.shape = Shape::kGpu;
  config_.slurm.shape_given = true;
  config_.slurm.urgent_shape = Shape::kNodes;
  config_.slurm.nodes = 2;
  restart();
  const auto normal = enqueue_known("a.mrc", Priority::kNormal);
  const auto urgent = enqueue_known("b.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_EQ(attempt(normal).shape, "1 GPU");
  EXPECT_EQ(attempt(urgent).shape, "2 nodes (8 GPUs)");
}

TEST_F(DaemonWidthsTest, AWidthThatSlurmRefusesIsNotAskedForAgainAtOnce) {
  cluster_.refusal = slurm::Refusal::kJob;
  cluster_.refusal_message = "Requested node configuration is not available";
  cluster_.faults = {tests::FakeCluster::Fault::kReject};
  const auto id = enqueue_known("a.mrc", Priority::kNormal);
  ticks(3);
  EXPECT_EQ(item(id).state, ItemState::kActive);
  EXPECT_EQ(attempt(id).shape, "1 GPU");
  EXPECT_EQ(daemon_->status().pause_reason, "");
  EXPECT_EQ(count_logged("submissions held: "), 1);
  EXPECT_EQ(count_logged("'slurm.gpus_per_node'"), 1);
}

TEST_F(DaemonWidthsTest, UnlessTheSiteAsksForItWidthsAreFixed) {
  config_.policy.widths = WidthsBy::kFixed;
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kNormal);
  ticks(1);
  EXPECT_EQ(attempt(id).shape, "1 GPU");
  EXPECT_EQ(cluster_.facts_asked, 0);
}

TEST_F(DaemonWidthsTest, NoJobIsWiderThanItsPartitionAllows) {
  cluster_.cluster_facts.site.partitions.value->at("main").most_nodes = 2;
  restart();
  const auto urgent = enqueue_known("a.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_EQ(attempt(urgent).shape, "2 nodes (8 GPUs)");
}

TEST_F(DaemonWidthsTest, MoreNodesThanThereCanBeAreNoLimit) {
  cluster_.cluster_facts.site.partitions.value->at("main").most_nodes = 4'294'967'295;
  restart();
  const auto urgent = enqueue_known("a.mrc", Priority::kUrgent);
  ticks(1);
  EXPECT_THAT(attempt(urgent).shape, HasSubstr(" nodes ("));
}

TEST_F(DaemonWidthsTest, WhatAForecastLeavesOutIsSaid) {
  slurm::QueuedJob array{.partitions = {"main"}, .waiting_tasks = 2'500};
  array.status.reason = "Priority";
  array.status.gpus = 1;
  array.limit_minutes = 10;
  cluster_.cluster_facts.waiting = {array};
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kNormal);
  ticks(1);
  EXPECT_THAT(attempt(id).explanation, HasSubstr("500 jobs that go first are not counted"));
}

TEST_F(DaemonWidthsTest, WithoutAPartitionThatTheClusterNamesNothingIsChosen) {
  cluster_.cluster_facts.site.partitions.value->at("main").is_default = false;
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kNormal);
  ticks(3);
  EXPECT_EQ(attempt(id).shape, "1 GPU");
  EXPECT_EQ(count_logged("does not say which partition is its default"), 1);
  EXPECT_EQ(count_logged("slurm.options.partition"), 1);
}

TEST_F(DaemonWidthsTest, APartitionThatTheClusterDoesNotHaveIsNamed) {
  config_.slurm.options["partition"] = "gone";
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kNormal);
  ticks(3);
  EXPECT_EQ(attempt(id).shape, "1 GPU");
  EXPECT_EQ(count_logged("'gone' is not the name of one partition"), 1);
}

TEST_F(DaemonWidthsTest, WhatWasStoppedForAWiderJobIsNotStoppedAgain) {
  config_.slurm.max_jobs = 1;
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kLow);
  ticks(2);
  commands_->promote(user_, id, Priority::kUrgent);
  ticks(1);
  ASSERT_NE(attempt(id).stop_asked, 0);
  std::ofstream(attempt(id).directory + "/checkpoint.mgc") << "units";
  std::ofstream(attempt(id).directory + "/progress.json") << R"({"done": 10})";
  fail(attempt(id), 85);
  ticks(2);
  ASSERT_EQ(attempts(id).size(), 2U);
  EXPECT_EQ(attempt(id).shape, "4 nodes (16 GPUs)");
  for (int i = 0; i < 20; ++i) {
    clock_.pass(seconds(31));
    ticks(1);
  }
  EXPECT_EQ(attempts(id).size(), 2U);
  EXPECT_EQ(attempt(id).stop_asked, 0);
}

TEST_F(DaemonWidthsTest, ThePlanAsksTheClusterOnceInHalfAMinute) {
  enqueue_known("a.mrc", Priority::kNormal);
  ticks(5);
  EXPECT_EQ(cluster_.facts_asked, 1);
  clock_.pass(seconds(31));
  ticks(2);
  EXPECT_EQ(cluster_.facts_asked, 2);
  config_.slurm.shape = Shape::kCpu;
  restart();
  clock_.pass(seconds(31));
  ticks(2);
  EXPECT_EQ(cluster_.facts_asked, 2) << "there is no width to choose";
}

TEST_F(DaemonWidthsTest, APromotedItemIsStoppedWhereMoreGpusPay) {
  config_.slurm.max_jobs = 1;
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kLow);
  ticks(2);
  ASSERT_EQ(attempt(id).shape, "1 GPU");
  commands_->promote(user_, id, Priority::kUrgent);
  ticks(1);
  EXPECT_NE(attempt(id).stop_asked, 0);
  EXPECT_THAT(commands_->explain({item(id)}).front(), HasSubstr("stopping with a checkpoint"));
}

}  // namespace
}  // namespace scheduler
