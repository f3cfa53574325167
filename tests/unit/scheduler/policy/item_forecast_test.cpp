#include "scheduler/policy/item_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/policy/example_cluster.h"
#include "tests/unit/scheduler/policy/example_limits.h"
#include "tests/unit/scheduler/policy/random_snapshot.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;

class ItemForecastTest : public testing::Test {
 protected:
  ItemForecastTest() {
    snapshot_.now = kNow;
    snapshot_.expects_times = true;
    snapshot_.kinds = {{.template_id = 1, .image_width = 4096, .image_height = 4096}};
    snapshot_.times = {SearchTime{.work = kLong, .model = example_model()}};
    snapshot_.limits = {.slots = 1, .width = Width{.gpus_per_node = 0}};
  }
  void on_the_example_cluster(ClusterForecast free = idle()) {
    snapshot_.limits = example_limits();
    snapshot_.gpus = GpuForecast{.likely = free, .late = free};
  }
  // Items of this class wait here, not in Slurm.
  void let_wait(Priority priority) {
    snapshot_.limits.max_pending = 1;
    snapshot_.pending[priority] = 1;
  }
  PlanItem& add(Priority priority = Priority::kNormal) {
    const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
    snapshot_.items.push_back(
        {.id = id, .priority = priority, .kind = 0, .created = id, .owner = 1});
    return snapshot_.items.back();
  }
  // Of the newest item.
  ItemForecast forecast(const ForecastItem& item = {}) const {
    const Plan made = plan(snapshot_);
    const auto found = forecast_item(made, made.decisions.back(), item);
    EXPECT_TRUE(found.has_value());
    return found.value_or(ItemForecast());
  }

  static constexpr int64_t kNow = 1'000'000;
  static constexpr double kOneGpu = kLong + 35;  // seconds of a search: s and u are 20 and 15 s
  const double t90_ = std::exp(1.2816 * 0.2);
  QueueSnapshot snapshot_;
};

TEST_F(ItemForecastTest, TheBoundOfAnItemCountsThoseBeforeItAsLate) {
  for (int i = 0; i < 3; ++i) add();
  const ItemForecast third = forecast();
  EXPECT_NEAR(third.start_late, 2 * kOneGpu * t90_, 3);
  EXPECT_NEAR(third.done_late, 3 * kOneGpu * t90_, 3);
  ASSERT_EQ(third.widths.size(), 1U);
  EXPECT_NEAR(third.widths[0].wait, 2 * kOneGpu, 2);
}

TEST_F(ItemForecastTest, ARunningSearchIsDoneByTheT90OfTheWholeOfIt) {
  PlanItem& item = add();
  item.state = ItemState::kActive;
  item.width = Width{.gpus_per_node = 0};
  item.started = kNow - 1000;
  item.first_job = item.stoppable = true;
  const ItemForecast running = forecast({.started = item.started});
  EXPECT_NEAR(running.done_late, kOneGpu * t90_ - 1000, 2);
  EXPECT_TRUE(running.widths.empty());
  EXPECT_TRUE(running.promotions.empty());
}

TEST_F(ItemForecastTest, AJobThatWaitsInSlurmStartsAsTheLateForecastHasIt) {
  on_the_example_cluster();
  PlanItem& item = add();
  item.state = ItemState::kActive;
  item.width = Width{};
  item.waits = item.stoppable = true;
  snapshot_.gpus->starts[item.id] = 500;
  EXPECT_TRUE(std::isinf(forecast().done_late)) << "nobody knows by when it starts";
  snapshot_.gpus->late_starts[item.id] = 700;
  EXPECT_NEAR(forecast().start_late, 700, 1);
  EXPECT_NEAR(forecast().done_late, 700 + kOneGpu * t90_, 2);
}

// The worked example of a full partition: 8 GPUs are done first, 4 are within 10 % of that.
TEST_F(ItemForecastTest, EachWidthIsDoneAsInTheWorkedExample) {
  on_the_example_cluster(at_expected_rests(kLong));
  let_wait(Priority::kUrgent);
  add(Priority::kUrgent);
  const ItemForecast urgent = forecast();
  ASSERT_EQ(urgent.widths.size(), 6U);
  const std::vector<std::pair<int, double>> hours = {{1, 16.26},  {4, 11.23},  {8, 11.04},
                                                     {16, 11.98}, {32, 13.70}, {64, 16.03}};
  for (size_t i = 0; i < hours.size(); ++i) {
    EXPECT_EQ(urgent.widths[i].width.gpus(), hours[i].first);
    EXPECT_NEAR(urgent.widths[i].done / kHour, hours[i].second, 0.005);
    EXPECT_NEAR(urgent.widths[i].done - urgent.widths[i].wait, urgent.widths[i].run, 2);
  }
  EXPECT_EQ(urgent.width, kOneNode);
  EXPECT_TRUE(urgent.promotions.empty()) << "nothing is above urgent";
}

TEST_F(ItemForecastTest, APromotionGainsAndCostsWhatTheQueueWouldThenTake) {
  on_the_example_cluster();
  let_wait(Priority::kLow);
  snapshot_.limits.classes[Priority::kHigh].cap = kOneNode;
  for (int i = 0; i < 128; ++i) add(Priority::kLow);
  const ItemForecast last = forecast();
  EXPECT_NEAR(last.widths.at(0).done, 2 * kOneGpu, 2);
  ASSERT_EQ(last.promotions.size(), 3U);
  const Promotion& normal = last.promotions[0];
  EXPECT_EQ(normal.priority, Priority::kNormal);
  EXPECT_EQ(last.promotions[1].priority, Priority::kHigh);
  EXPECT_EQ(last.promotions[2].priority, Priority::kUrgent);
  // It takes a node for 4.05 hours. Four items start after it instead of at once, and the last
  // three that wait for those as much later.
  EXPECT_EQ(normal.width, kOneNode);
  EXPECT_EQ(normal.start, 0);
  EXPECT_NEAR(normal.done, 4.05 * kHour, 36);
  EXPECT_NEAR(normal.sooner, 2 * kOneGpu - normal.done, 2);
  EXPECT_NEAR(normal.more_gpu_seconds, 4 * normal.done - kOneGpu, 2);
  EXPECT_EQ(normal.delayed, 7);
  EXPECT_NEAR(normal.longest_delay, normal.done, 2);
  // All others wait for an urgent one that has the whole cluster.
  EXPECT_EQ(last.promotions[2].width, kWholeCluster);
  EXPECT_EQ(last.promotions[2].delayed, 127);
  EXPECT_NEAR(last.promotions[2].longest_delay, 1001, 2);
}

// What the next plan expects of it and of the others.
TEST_F(ItemForecastTest, APromotionComesOutAsItWasForecast) {
  on_the_example_cluster(at_expected_rests(kLong));
  for (const Priority priority :
       {Priority::kUrgent, Priority::kHigh, Priority::kNormal, Priority::kLow}) {
    let_wait(priority);
  }
  add(Priority::kHigh);
  add(Priority::kNormal);
  for (int i = 0; i < 98; ++i) add(Priority::kLow);
  const ItemForecast last = forecast();
  const Plan before = plan(snapshot_);
  ASSERT_EQ(last.promotions.size(), 3U);
  for (const Promotion& promotion : last.promotions) {
    snapshot_.items.back().priority = promotion.priority;
    const Plan then = plan(snapshot_);
    EXPECT_NEAR(then.decisions.back().starts_in, promotion.start, 2);
    EXPECT_NEAR(then.decisions.back().done_in, promotion.done, 2);
    int64_t delayed = 0;
    int32_t longest = 0;
    for (size_t i = 0; i + 1 < then.decisions.size(); ++i) {
      const int32_t delay = then.decisions[i].done_in - before.decisions[i].done_in;
      longest = std::max(longest, delay);
      if (delay >= 60) ++delayed;
    }
    EXPECT_EQ(promotion.delayed, delayed) << to_string(promotion.priority);
    EXPECT_NEAR(promotion.longest_delay, longest, 2);
  }
}

TEST_F(ItemForecastTest, APromotedItemStandsBehindThoseOfItsNewClass) {
  on_the_example_cluster({NodeForecast{0}});
  snapshot_.limits.menu = {Width{}};
  for (const Priority priority : {Priority::kUrgent, Priority::kNormal, Priority::kLow}) {
    let_wait(priority);
  }
  add(Priority::kUrgent);
  add(Priority::kNormal);
  add(Priority::kLow);
  const ItemForecast low = forecast();
  ASSERT_EQ(low.promotions.size(), 3U);
  EXPECT_EQ(low.promotions[0].sooner, 0) << "behind the one of class normal, as it is";
  EXPECT_EQ(low.promotions[0].delayed, 0);
  EXPECT_NEAR(low.promotions[1].start, kOneGpu, 1) << "before that one";
  EXPECT_EQ(low.promotions[1].delayed, 1);
  EXPECT_NEAR(low.promotions[1].longest_delay, kOneGpu, 1);
  EXPECT_NEAR(low.promotions[2].start, kOneGpu, 1) << "behind the urgent one";
}

// The rest of a search that stops for it delays it, and is delayed by what is promoted above it.
TEST_F(ItemForecastTest, SearchesThatResumeAreInTheBoundAndInTheCost) {
  on_the_example_cluster({NodeForecast{3000}});
  snapshot_.limits.menu = {Width{}};
  let_wait(Priority::kNormal);
  PlanItem& running = add();
  running.state = ItemState::kActive;
  running.width = Width{};
  running.started = kNow - 600;
  running.first_job = running.stoppable = true;
  snapshot_.gpus->segments[running.id] = 3600;
  add();
  const ItemForecast behind = forecast();
  const double late = kOneGpu * t90_;
  const double in_late_segments = late + 35 * std::ceil((late - 3600) / (3600 - 35));
  EXPECT_NEAR(behind.start_late, in_late_segments - 600, 2);
  ASSERT_EQ(behind.promotions.size(), 2U);
  EXPECT_NEAR(behind.promotions[0].start, 3000, 1) << "at the end of the segment";
  EXPECT_EQ(behind.promotions[0].delayed, 1) << "the search that resumes";
}

TEST_F(ItemForecastTest, WhatThePlanDoesNotKnowIsNotForecast) {
  add().kind = -1;
  add().unread = true;
  const Plan made = plan(snapshot_);
  EXPECT_FALSE(forecast_item(made, made.decisions[0], {}));
  EXPECT_FALSE(forecast_item(made, made.decisions[1], {}));
}

TEST_F(ItemForecastTest, AnItemThatResumesTakesWhatItsCheckpointLacks) {
  on_the_example_cluster();
  let_wait(Priority::kLow);
  add(Priority::kLow).left = 0.5F;
  EXPECT_NEAR(forecast().widths.at(0).run, kLong / 2 + 35, 1);
}

// Of every plan: the figures are those of the plan itself, and the bound is beyond them.
TEST(ItemForecastPropertyTest, TheFiguresAreThoseOfThePlan) {
  int64_t waiting = 0;
  int64_t jobs = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    QueueSnapshot snapshot = RandomSnapshot(seed).take();
    snapshot.expects_times = true;
    const Plan made = plan(snapshot);
    for (size_t i = 0; i < made.decisions.size(); ++i) {
      const Decision& decision = made.decisions[i];
      const auto item = std::find_if(snapshot.items.begin(), snapshot.items.end(),
                                     [&](const auto& one) { return one.id == decision.item_id; });
      const bool runs = item->state == ItemState::kActive && !item->waits;
      const auto found = forecast_item(
          made, decision,
          {.finish_by = item->finish_by, .asks = item->asks, .started = runs ? item->started : 0});
      ASSERT_EQ(found.has_value(), decision.done_in >= 0) << "seed " << seed;
      if (!found) continue;
      EXPECT_GE(found->done_late, found->start_late);
      if (!found->width) {
        ++jobs;
        EXPECT_GE(found->done_late + 1, decision.done_in) << "seed " << seed;
        continue;
      }
      ++waiting;
      for (const WidthAtTurn& one : found->widths) {
        EXPECT_GE(one.done + 1, one.wait + one.run) << "seed " << seed;
        if (one.width != *found->width) continue;
        EXPECT_EQ(one.wait, decision.starts_in);
        EXPECT_EQ(one.done, decision.done_in);
        EXPECT_NEAR(one.done - one.wait, one.run, 1.01) << "seed " << seed;
      }
      for (const Promotion& promotion : found->promotions) {
        EXPECT_LT(promotion.priority, decision.priority);
        EXPECT_NEAR(promotion.sooner, decision.done_in - promotion.done, 1e-6);
      }
    }
  }
  EXPECT_GT(waiting, 1000);
  EXPECT_GT(jobs, 100);
}

}  // namespace
}  // namespace scheduler
