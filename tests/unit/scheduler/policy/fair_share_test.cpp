#include "scheduler/policy/fair_share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/scheduler/policy/decided.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kTime = 1'000'000'000;
constexpr int64_t kWeek = 7 * 24 * 3600;
constexpr double kGpuHour = 3600;

TEST(DecayedUse, WhatWasUsedCountsHalfAfterAWeek) {
  DecayedUse use;
  use.add("kim", kTime, 800);
  EXPECT_DOUBLE_EQ(use.of("kim", kTime), 800);
  EXPECT_DOUBLE_EQ(use.of("kim", kTime + kWeek), 400);
  EXPECT_DOUBLE_EQ(use.of("kim", kTime + 3 * kWeek), 100);
  EXPECT_DOUBLE_EQ(use.of("lee", kTime), 0);
}

TEST(DecayedUse, TheOrderInWhichJobsAreAddedDoesNotMatter) {
  DecayedUse one;
  one.add("kim", kTime, 800);
  one.add("kim", kTime + kWeek, 100);
  DecayedUse other;
  other.add("kim", kTime + kWeek, 100);
  other.add("kim", kTime, 800);
  EXPECT_DOUBLE_EQ(one.of("kim", kTime + kWeek), 500);
  EXPECT_DOUBLE_EQ(other.of("kim", kTime + kWeek), 500);
}

TEST(DecayedUse, AJobUsuallyTakesTheMeanOfThoseThatHaveEnded) {
  DecayedUse use;
  EXPECT_EQ(use.usual_job(), std::nullopt);
  use.add("kim", kTime, 800);
  use.add("lee", kTime, 400);
  EXPECT_DOUBLE_EQ(use.usual_job().value(), 600);
}

std::vector<size_t> turns_of(std::vector<GroupUse> groups, int count, double each) {
  GroupTurns turns(groups);
  std::vector<size_t> order;
  for (int i = 0; i < count; ++i) {
    order.push_back(turns.next());
    turns.take(order.back(), each);
  }
  return order;
}

TEST(GroupTurns, GroupsThatHaveUsedAsMuchAlternate) {
  EXPECT_THAT(turns_of({{"a"}, {"b"}, {"c"}}, 6, 10), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(GroupTurns, TheGroupThatHasUsedLessGoesFirstUntilItHasCaughtUp) {
  EXPECT_THAT(turns_of({{"a", 25}, {"b", 0}}, 6, 10), ElementsAre(1, 1, 1, 0, 1, 0));
}

TEST(GroupTurns, AGroupWithTwiceTheShareGetsTwiceAsMuch) {
  EXPECT_THAT(turns_of({{"a", 0, 2}, {"b", 0, 1}}, 6, 10), ElementsAre(0, 1, 0, 0, 1, 0));
}

// Two groups with items of one class.
class FairShareTest : public testing::Test {
 protected:
  FairShareTest() {
    snapshot_.now = kTime;
    snapshot_.limits = {.slots = 3, .queues = true, .max_pending = 100};
    snapshot_.groups = {{"kim"}, {"lee"}};
  }
  PlanItem& add(int group, int64_t owner, Priority priority = Priority::kNormal) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back(
        {.id = id, .priority = priority, .group = group, .created = id, .owner = owner});
    return snapshot_.items.back();
  }
  std::string explanation(int64_t id) const {
    return decided(snapshot_).at(static_cast<size_t>(id) - 1).explanation;
  }

  QueueSnapshot snapshot_;
};

TEST_F(FairShareTest, OfTwoGroupsOneTakesNotEverything) {
  for (int i = 0; i < 4; ++i) add(0, 1);
  for (int i = 0; i < 4; ++i) add(1, 2 + i % 2);
  EXPECT_THAT(started(snapshot_), ElementsAre(1, 5, 2));
  snapshot_.limits.slots = 8;
  EXPECT_THAT(started(snapshot_), ElementsAre(1, 5, 2, 6, 3, 7, 4, 8))
      << "although one group has one user and the other two";
}

TEST_F(FairShareTest, TheGroupThatHasUsedLessGoesFirst) {
  for (int i = 0; i < 4; ++i) add(0, 1);
  for (int i = 0; i < 4; ++i) add(1, 2);
  snapshot_.groups[0].gpu_seconds = 40.1 * kGpuHour;
  snapshot_.groups[1].gpu_seconds = 12.3 * kGpuHour;
  EXPECT_THAT(started(snapshot_), ElementsAre(5, 6, 7));
  EXPECT_THAT(explanation(5), HasSubstr("its group's turn among 8 ready items of class normal"));
  EXPECT_THAT(explanation(1), HasSubstr("; group lee goes first, since it has used less (12.3 "
                                        "against 40.1 GPU hours, with its jobs in the cluster, "
                                        "counted with a half-life of 7 days)"));
  EXPECT_THAT(explanation(8), Not(HasSubstr("group")));
}

TEST_F(FairShareTest, AShareCountsAgainstWhatWasUsed) {
  add(0, 1);
  add(1, 2);
  snapshot_.limits.slots = 1;
  snapshot_.groups[0] = {.name = "kim", .gpu_seconds = 30 * kGpuHour, .share = 3};
  snapshot_.groups[1] = {.name = "lee", .gpu_seconds = 20 * kGpuHour};
  EXPECT_THAT(started(snapshot_), ElementsAre(1));
  EXPECT_THAT(
      explanation(2),
      HasSubstr("group kim goes first, since it has used less for its share (10.0 against 20.0 GPU "
                "hours for a share of 1, with its jobs in the cluster, counted with a half-life of "
                "7 days)"));
}

TEST_F(FairShareTest, JobsThatRunCountAsIfTheyHadEnded) {
  PlanItem& runs = add(0, 1);
  runs.state = ItemState::kActive;
  add(0, 1);
  add(1, 2);
  snapshot_.limits.slots = 1;
  snapshot_.busy_slots = 0;
  EXPECT_THAT(started(snapshot_), ElementsAre(3));
  snapshot_.items[0].width = Width{};
  snapshot_.items[0].started = kTime - 100;
  snapshot_.groups[1].gpu_seconds = 50;
  EXPECT_THAT(started(snapshot_), ElementsAre(3));
  snapshot_.groups[1].gpu_seconds = 150;
  EXPECT_THAT(started(snapshot_), ElementsAre(2));
}

TEST_F(FairShareTest, WithinAGroupTheOwnersTakeTurnsAndAClassGoesBeforeEveryGroup) {
  add(0, 1);
  add(0, 1);
  add(0, 2);
  add(1, 3);
  add(0, 1, Priority::kHigh);
  snapshot_.groups[1].gpu_seconds = 100 * kGpuHour;
  snapshot_.limits.slots = 10;
  EXPECT_THAT(started(snapshot_), ElementsAre(5, 1, 3, 2, 4));
}

TEST_F(FairShareTest, TheItemsOfManyGroupsWaitForFewReasons) {
  snapshot_.groups.clear();
  for (int group = 0; group < 50; ++group) {
    snapshot_.groups.push_back(
        {.name = "g" + std::to_string(group), .gpu_seconds = group * kGpuHour});
  }
  for (int i = 0; i < 2000; ++i) add(i % 50, i % 50);
  EXPECT_LT(plan(snapshot_).reasons.size(), 100u);
  EXPECT_THAT(explanation(1950), HasSubstr("group g0 goes first"));
}

TEST_F(FairShareTest, AWideJobCountsWithWhatItsWidthCosts) {
  snapshot_.times = {SearchTime{.work = kGpuHour, .model = {.serial_seconds = 3600}}};
  for (const int group : {0, 1}) {
    PlanItem& runs = add(group, 1 + group);
    runs.state = ItemState::kActive;
    runs.kind = 0;
    runs.width = Width{.gpus_per_node = group == 0 ? 1 : 4};
  }
  add(1, 2);
  add(0, 1);
  snapshot_.limits.slots = 1;
  EXPECT_THAT(started(snapshot_), ElementsAre(4));
}

TEST_F(FairShareTest, ItemsOfOneGroupAreExplainedWithoutIt) {
  for (int i = 0; i < 4; ++i) add(0, 1);
  snapshot_.groups[0].gpu_seconds = 100 * kGpuHour;
  EXPECT_THAT(started(snapshot_), ElementsAre(1, 2, 3));
  EXPECT_THAT(explanation(4), Not(HasSubstr("group")));
  EXPECT_THAT(explanation(1), AllOf(HasSubstr("first of 4 ready items"), Not(HasSubstr("group"))));
}

}  // namespace
}  // namespace scheduler
