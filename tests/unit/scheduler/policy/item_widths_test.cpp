// The worked examples of docs/policy.md, as the plan of a queue decides them.
#include "scheduler/policy/item_widths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_limits.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t kSnapshotTime = 1'000'000;

class ItemWidthsTest : public testing::Test {
 protected:
  ItemWidthsTest() {
    snapshot_.now = kSnapshotTime;
    snapshot_.limits = example_limits();
    snapshot_.times = {
        SearchTime{.work = kLong, .model = example_model(), .source = "37 past runs"}};
    is_free(idle());
  }
  void is_free(const ClusterForecast& forecast) {
    snapshot_.gpus = GpuForecast{forecast, forecast};
  }
  PlanItem& add(Priority priority) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back({.id = id, .priority = priority, .kind = 0, .created = id});
    return snapshot_.items.back();
  }
  void add_many(int count, Priority priority) {
    for (int i = 0; i < count; ++i) add(priority);
  }
  PlanItem& add_running(Priority priority, const Width& width, double hours) {
    PlanItem& item = add(priority);
    item.state = ItemState::kActive;
    item.width = width;
    item.stoppable = item.first_job = true;
    item.started = kSnapshotTime - static_cast<int64_t>(hours * kHour);
    return item;
  }
  std::vector<Width> widths() const {
    const Plan made = plan(snapshot_);
    std::vector<Width> widths;
    for (const JobStart& start : made.starts) widths.push_back(start.width);
    return widths;
  }
  Decided decision_of(int64_t id) const {
    for (const Decided& decision : decided(snapshot_)) {
      if (decision.item_id == id) return decision;
    }
    ADD_FAILURE() << "no decision for item " << id;
    return {};
  }
  std::string explanation(int64_t id = 1) const { return decision_of(id).explanation; }

  QueueSnapshot snapshot_;
};

TEST_F(ItemWidthsTest, ABacklogGetsOneGpuEach) {
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
    snapshot_.items.clear();
    add_many(500, priority);
    EXPECT_EQ(widths().size(), 500u);
    EXPECT_THAT(widths(), Each(kNarrow));
  }
  EXPECT_THAT(explanation(),
              HasSubstr("500 ready items of its class and higher ones share 64 GPUs"));
}

TEST_F(ItemWidthsTest, AFewItemsRunSideBySideWithinTheirClassesCaps) {
  add_many(3, Priority::kLow);
  EXPECT_THAT(widths(), Each(kNarrow));
  snapshot_.items.clear();
  add_many(3, Priority::kNormal);
  EXPECT_EQ(widths().size(), 3u);
  EXPECT_THAT(widths(), Each(kOneNode));
}

TEST_F(ItemWidthsTest, AFewUrgentItemsGetTheWholeClusterInTurn) {
  add_many(3, Priority::kUrgent);
  EXPECT_THAT(widths(), ElementsAre(kWholeCluster, kWholeCluster, kWholeCluster));
  EXPECT_THAT(explanation(1),
              AllOf(HasSubstr("so it gets 16 nodes (64 GPUs): 16.0 GPU hours (37 "
                              "past runs); time until done: 1 GPU 16.0 h, 4 GPUs "
                              "4.1 h, 8 GPUs 2.1 h, 16 GPUs 1.0 h, 32 GPUs 32.0 "
                              "min, 64 GPUs 16.7 min; the width that is done first"),
                    Not(HasSubstr("for its GPUs"))));
  EXPECT_THAT(explanation(2),
              HasSubstr("64 GPUs 33.4 min; of this it waits 16.7 min for its GPUs"));
  EXPECT_THAT(explanation(3),
              HasSubstr("64 GPUs 50.0 min; of this it waits 33.4 min for its GPUs"));
}

TEST_F(ItemWidthsTest, ShortUrgentItemsRunSideBySide) {
  snapshot_.times[0]->work = 60;
  snapshot_.limits.classes[Priority::kUrgent].least_efficiency = 0;
  add_many(3, Priority::kUrgent);
  ASSERT_EQ(widths().size(), 3u);
  const Width shared = widths().front();
  EXPECT_LT(shared.gpus(), 64);
  EXPECT_THAT(widths(), Each(shared));
  EXPECT_THAT(explanation(),
              HasSubstr("3 urgent items share the GPUs, since side by side they are done sooner"));
}

TEST_F(ItemWidthsTest, AnUrgentItemBehindLongJobsSaysWhatEachWidthWouldMean) {
  add(Priority::kUrgent);
  is_free(at_expected_rests(16 * kHour));
  EXPECT_THAT(widths(), ElementsAre(kOneNode));
  EXPECT_THAT(
      explanation(),
      HasSubstr(
          "1 GPU 16.3 h, 4 GPUs 11.2 h, 8 GPUs 11.0 h, 16 GPUs 12.0 h, 32 GPUs 13.7 "
          "h, 64 GPUs 16.0 h; of this it waits 7.2 h for its GPUs; the narrowest that is done "
          "at most 10 % later than with 8 GPUs"));
  is_free(at_expected_rests(kHour));
  EXPECT_THAT(widths(), ElementsAre((Width{.nodes = 8, .gpus_per_node = 4})));
  EXPECT_THAT(explanation(), HasSubstr("32 GPUs 1.4 h, 64 GPUs 1.3 h"));
}

TEST_F(ItemWidthsTest, JobsThatTheForecastLeavesOutAreNamed) {
  add(Priority::kNormal);
  EXPECT_THAT(explanation(), Not(HasSubstr("may wait longer")));
  snapshot_.gpus->not_placed = 1200;
  EXPECT_THAT(explanation(),
              HasSubstr("it may wait longer, since 1,200 jobs that go first are not counted"));
}

TEST_F(ItemWidthsTest, WhatHigherClassesHoldIsNotShared) {
  add_running(Priority::kUrgent, {.nodes = 15, .gpus_per_node = 4}, 0);
  add_many(2, Priority::kNormal);
  EXPECT_THAT(widths(), Each(kNarrow)) << "four GPUs for two items: the menu has 1 or 4";
  EXPECT_THAT(explanation(2), HasSubstr("2 ready items of its class and higher ones share 4 GPUs"));
  snapshot_.items.pop_back();
  EXPECT_THAT(widths(), ElementsAre(kOneNode));
}

TEST_F(ItemWidthsTest, ADeadlineThatHasPassedGivesNobodyMoreGpus) {
  add_many(100, Priority::kHigh);
  for (PlanItem& item : snapshot_.items) item.finish_by = kSnapshotTime - 1;
  EXPECT_THAT(widths(), Each(kNarrow));
}

TEST_F(ItemWidthsTest, ADeadlineGetsTheNarrowestWidthThatMeetsIt) {
  PlanItem& item = add(Priority::kLow);
  item.finish_by = kSnapshotTime + static_cast<int64_t>(30 * kHour);
  EXPECT_THAT(widths(), ElementsAre(kNarrow));
  EXPECT_THAT(explanation(), HasSubstr("the narrowest that is done by its deadline"));
  item.finish_by = kSnapshotTime + static_cast<int64_t>(6 * kHour);
  EXPECT_THAT(widths(), ElementsAre(kOneNode)) << "beyond the cap of its class";
  item.finish_by = kSnapshotTime + static_cast<int64_t>(2 * kHour);
  EXPECT_THAT(widths(), ElementsAre(kOneNode)) << "never several nodes";
  EXPECT_THAT(explanation(), HasSubstr("AT RISK: it may be done 3.2 h after its deadline"));
  item.priority = Priority::kHigh;
  EXPECT_THAT(widths(), ElementsAre((Width{.nodes = 4, .gpus_per_node = 4})));
}

TEST_F(ItemWidthsTest, ASiteMayGiveNoLessThanANode) {
  snapshot_.limits.classes[Priority::kLow] = {kOneNode, kOneNode, kOneNode, 0.9};
  add_many(500, Priority::kLow);
  EXPECT_THAT(widths(), Each(kOneNode));
}

TEST_F(ItemWidthsTest, WhereSomethingIsUnknownTheSitesWidthIsGiven) {
  snapshot_.limits.urgent = Width{.nodes = 2, .gpus_per_node = 4};
  add(Priority::kUrgent);
  EXPECT_THAT(widths(), ElementsAre(kWholeCluster));
  snapshot_.items[0].kind = -1;
  EXPECT_THAT(widths(), ElementsAre(*snapshot_.limits.urgent)) << "the time of its search";
  EXPECT_THAT(explanation(), HasSubstr("so it gets 2 nodes (8 GPUs), since it is urgent"));
  snapshot_.items[0].kind = 0;
  snapshot_.gpus.reset();
  EXPECT_THAT(widths(), ElementsAre(*snapshot_.limits.urgent)) << "the cluster";
  is_free({});
  EXPECT_THAT(widths(), ElementsAre(*snapshot_.limits.urgent)) << "no node is up";
  is_free(idle());
  snapshot_.items[0] = asking(snapshot_.items[0], {.own_width = true});
  EXPECT_THAT(explanation(), HasSubstr("so it gets what its own options ask for"));
}

TEST_F(ItemWidthsTest, WhyNoWidthIsChosenIsExplained) {
  PlanItem& item = add(Priority::kNormal);
  EXPECT_THAT(explanation(), Not(HasSubstr("no width was chosen")));
  item.kind = -1;
  EXPECT_THAT(explanation(),
              EndsWith("so it gets 1 GPU; no width was chosen, since the size of its "
                       "micrograph is not known"));
  item.kind = 0;
  snapshot_.times[0].reset();
  snapshot_.no_time = {{0, "its template was not counted"}};
  EXPECT_THAT(explanation(), EndsWith("chosen, since its template was not counted"));
  snapshot_.times[0] = SearchTime{.work = kLong, .model = example_model()};
  item = asking(item, {.size = "time=10"});
  EXPECT_THAT(explanation(), EndsWith("chosen, since its own options say how large its job is"));
  item = asking(item, {.place = {{"partition", "other"}}});
  EXPECT_THAT(explanation(),
              EndsWith("chosen, since it names a partition or reservation of its own"));
  item.asks.reset();
  snapshot_.limits.class_options[Priority::kNormal] = {{"reservation", "monday"}};
  EXPECT_THAT(explanation(), EndsWith("chosen, since its class names a partition or reservation"));
  snapshot_.limits.class_options.clear();
  is_free({});
  EXPECT_THAT(
      explanation(),
      EndsWith("chosen, since the cluster has no room for any width that its class may have"));
  snapshot_.gpus.reset();
  snapshot_.no_gpus = "sinfo: no answer";
  EXPECT_THAT(explanation(),
              EndsWith("chosen, since when GPUs will be free is not known: sinfo: no answer"));
  snapshot_.limits.classes.clear();
  EXPECT_THAT(explanation(), EndsWith("so it gets 1 GPU"));
}

TEST_F(ItemWidthsTest, APromotedItemIsStoppedOnlyWhereThatPays) {
  ClusterForecast others = idle();
  others[0][0] = 15 * kHour;
  is_free(others);
  PlanItem& item = add_running(Priority::kUrgent, kNarrow, 1);
  Decided decision = decision_of(1);
  EXPECT_EQ(decision.verdict, Verdict::kWiden);
  EXPECT_EQ(decision.width, (Width{.nodes = 8, .gpus_per_node = 4})) << "the sixteenth is busy";
  EXPECT_THAT(
      decision.explanation,
      HasSubstr("has 1 GPU, and with 8 nodes (32 GPUs) it would be done in 30.1 min instead of "
                "15.0 h: it is stopped with a checkpoint and resumes with those"));
  item.started = kSnapshotTime - static_cast<int64_t>(16 * kHour);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns) << "it is almost done";
  item.started = kSnapshotTime - static_cast<int64_t>(kHour);
  item = asking(item, {.own_width = true});
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
  item.asks.reset();
  item.priority = Priority::kHigh;
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
}

TEST_F(ItemWidthsTest, NothingIsStoppedTwiceForAForecast) {
  PlanItem& item = add_running(Priority::kUrgent, kNarrow, 1);
  ASSERT_EQ(decision_of(1).verdict, Verdict::kWiden);
  item.first_job = false;
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns) << "as when it was stopped while it waited";
  item.first_job = true;
  item.waits = true;
  EXPECT_EQ(decision_of(1).verdict, Verdict::kWiden);
  item.first_job = false;
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
}

TEST_F(ItemWidthsTest, AnUrgentItemThatMeetsItsDeadlineIsNotStopped) {
  PlanItem& item = add_running(Priority::kUrgent, kOneNode, 0);
  ASSERT_EQ(decision_of(1).verdict, Verdict::kWiden);
  item.finish_by = kSnapshotTime + static_cast<int64_t>(10 * kHour);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
  item.finish_by = kSnapshotTime + static_cast<int64_t>(kHour);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kWiden);
}

TEST_F(ItemWidthsTest, WhatAnItemIsStoppedForIsNotFreeForOthers) {
  add_running(Priority::kUrgent, kNarrow, 1);
  add_running(Priority::kUrgent, {.nodes = 8, .gpus_per_node = 4}, 0);
  ASSERT_EQ(decision_of(1).verdict, Verdict::kWiden);
  ASSERT_EQ(decision_of(2).verdict, Verdict::kRuns);
  snapshot_.items[0].stop_asked = true;
  EXPECT_EQ(decision_of(2).verdict, Verdict::kRuns);
  snapshot_.items[0].stoppable = false;
  EXPECT_EQ(decision_of(2).verdict, Verdict::kWiden);
}

TEST_F(ItemWidthsTest, JobsThatRunSideBySideAreNotStoppedForTheWidthOfOne) {
  snapshot_.times[0]->work = 60;
  snapshot_.limits.classes[Priority::kUrgent].least_efficiency = 0;
  add_running(Priority::kUrgent, kNarrow, 0);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kWiden);
  add_running(Priority::kUrgent, kNarrow, 0);
  EXPECT_THAT(widened(snapshot_), IsEmpty());
}

TEST_F(ItemWidthsTest, NothingIsStoppedForAWidthThatWasRefused) {
  add_running(Priority::kUrgent, kNarrow, 1);
  snapshot_.refused_lanes = {"16 nodes (64 GPUs)"};
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
}

TEST_F(ItemWidthsTest, NothingIsStoppedWhileTheClusterDoesNotAnswer) {
  snapshot_.limits.urgent = kWholeCluster;
  add_running(Priority::kUrgent, kNarrow, 1);
  snapshot_.gpus.reset();
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
}

TEST_F(ItemWidthsTest, WhatRunsElsewhereOrInASizeOfItsOwnGetsTheSitesWidth) {
  PlanItem& item = add(Priority::kNormal);
  ASSERT_EQ(decision_of(1).width, kOneNode);
  item.asks = std::make_shared<const ItemAsks>(ItemAsks{.place = {{"partition", "other"}}});
  EXPECT_EQ(decision_of(1).width, kNarrow);
  item.asks = std::make_shared<const ItemAsks>(ItemAsks{.size = "time=10"});
  EXPECT_EQ(decision_of(1).width, kNarrow);
  item.asks = nullptr;
  snapshot_.limits.class_options[Priority::kNormal] = {{"partition", "other"}};
  EXPECT_EQ(decision_of(1).width, kNarrow);
}

TEST_F(ItemWidthsTest, AWidthThatIsHeldIsLeftOutAndTheCapStays) {
  add(Priority::kNormal);
  snapshot_.held_lanes = {{"1 node (4 GPUs)", "refused"}};
  EXPECT_EQ(decision_of(1).width, kNarrow);
  snapshot_.items[0].priority = Priority::kLow;
  snapshot_.limits.menu = {kOneNode, kWholeCluster};
  EXPECT_EQ(decision_of(1).width, kNarrow) << "not the node, which its class may not have";
  snapshot_.limits.menu = widths_of(4, kExampleNodes);
  snapshot_.items[0].priority = Priority::kUrgent;
  snapshot_.limits.most_nodes = 3;
  EXPECT_EQ(decision_of(1).width, (Width{.nodes = 2, .gpus_per_node = 4}));
}

TEST_F(ItemWidthsTest, APromotedItemGetsAtLeastWhatItsClassMustHave) {
  add_running(Priority::kUrgent, kNarrow, 16);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns) << "it is almost done";
  snapshot_.limits.classes[Priority::kUrgent].least = {.nodes = 2, .gpus_per_node = 4};
  EXPECT_EQ(decision_of(1).verdict, Verdict::kWiden);
  EXPECT_EQ(decision_of(1).width, (Width{.nodes = 2, .gpus_per_node = 4}));
}

TEST_F(ItemWidthsTest, AWideItemIsNotStoppedForANarrowerWidth) {
  add_running(Priority::kUrgent, kWholeCluster, 0);
  EXPECT_EQ(decision_of(1).verdict, Verdict::kRuns);
}

TEST_F(ItemWidthsTest, HoldForAnyQueue) {
  std::mt19937_64 random(3);
  const auto pick = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  for (int i = 0; i < 2'000; ++i) {
    snapshot_.items.clear();
    snapshot_.times[0]->work = pick(1, 200'000);
    ClusterForecast forecast = idle();
    for (NodeForecast& node : forecast) {
      for (double& gpu : node) gpu = pick(0, 1) * pick(0, 100'000);
    }
    is_free(forecast);
    for (int n = pick(1, 20); n > 0; --n) {
      PlanItem& item = add(static_cast<Priority>(pick(1, 4)));
      if (pick(0, 3) == 0) item.finish_by = kSnapshotTime + pick(1, 200'000);
    }
    for (const Decided& decision : decided(snapshot_)) {
      ASSERT_FALSE(decision.explanation.empty());
      if (decision.verdict != Verdict::kStart) continue;
      const PlanItem& item = snapshot_.items[static_cast<size_t>(decision.item_id) - 1];
      const ClassWidths& rules = snapshot_.limits.classes[item.priority];
      const Width& cap = item.finish_by > 0 ? rules.deadline_cap : rules.cap;
      EXPECT_LE(decision.width->gpus(), cap.gpus());
      const bool may_be_wide = item.priority == Priority::kUrgent || item.finish_by > 0;
      EXPECT_TRUE(may_be_wide || decision.width->nodes == 1);
      EXPECT_THAT(decision.explanation, HasSubstr("time until done:"));
    }
  }
}

}  // namespace
}  // namespace scheduler
