// What a class gets whatever waits above it.
#include "scheduler/policy/floors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Width kGpuWide{};
constexpr Width kNodeWide{.gpus_per_node = 4};
constexpr int64_t kPlannedAt = 1'000'000;

class FloorsTest : public testing::Test {
 protected:
  FloorsTest() {
    snapshot_.now = kPlannedAt;
    snapshot_.limits = {.slots = 1000,
                        .queues = true,
                        .width = kGpuWide,
                        .menu = widths_of(4, kExampleNodes),
                        .classes = {{Priority::kLow, {kGpuWide, kGpuWide, kNodeWide, 0.98}},
                                    {Priority::kHigh, {kGpuWide, kNodeWide, kNodeWide, 0.80}},
                                    {Priority::kUrgent, {kGpuWide, kNodeWide, kNodeWide, 0.50}}},
                        .floors = {{Priority::kLow, 0.05}}};
    snapshot_.times = {SearchTime{.work = kHour, .model = example_model()}};
    all_busy_until(kHour);
  }
  void all_busy_until(double seconds, int nodes = kExampleNodes) {
    const ClusterForecast busy(static_cast<size_t>(nodes), NodeForecast(4, seconds));
    snapshot_.gpus = GpuForecast{busy, busy};
  }
  PlanItem& add(Priority priority, int count = 1) {
    for (int i = 0; i < count; ++i) {
      const auto id = static_cast<int64_t>(snapshot_.items.size()) + 1;
      snapshot_.items.push_back({.id = id, .priority = priority, .kind = 0, .created = id});
    }
    return snapshot_.items.back();
  }
  void add_jobs(Priority priority, int count, bool by_floor = false) {
    for (int i = 0; i < count; ++i) {
      PlanItem& item = add(priority);
      item.state = ItemState::kActive;
      item.width = kGpuWide;
      item.waits = by_floor;
      item.by_floor = by_floor;
      ++snapshot_.busy_slots;
    }
  }
  std::vector<JobStart> by_floor() const {
    std::vector<JobStart> jobs;
    for (const JobStart& start : plan(snapshot_).starts) {
      if (start.floor_over) jobs.push_back(start);
    }
    return jobs;
  }
  std::string explanation(int64_t id) const {
    for (const Decided& decision : decided(snapshot_)) {
      if (decision.item_id == id) return decision.explanation;
    }
    return "no decision";
  }

  QueueSnapshot snapshot_;
};

TEST_F(FloorsTest, AClassBelowItsFloorGoesFirstWithAsManyJobsAsTheFloorHas) {
  add_jobs(Priority::kHigh, 64);
  add(Priority::kHigh, 10);
  const int64_t first = add(Priority::kLow, 10).id - 9;
  const auto jobs = by_floor();
  ASSERT_EQ(jobs.size(), 3) << "5 % of 64 GPUs are 3.2";
  EXPECT_EQ(jobs.front().item_id, first);
  EXPECT_EQ(jobs.front().floor_over, Priority::kHigh);
  EXPECT_THAT(jobs.front().explanation,
              HasSubstr("its class gets at least 5 % of the 64 GPUs that Margay may use, whatever "
                        "waits above it"));
}

TEST_F(FloorsTest, JobsThatItHasCountAlsoThoseThatWaitForTheirFloor) {
  add_jobs(Priority::kHigh, 61);
  add_jobs(Priority::kLow, 2);
  add_jobs(Priority::kLow, 1, true);
  add(Priority::kHigh, 10);
  add(Priority::kLow, 10);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
}

// They stand behind all that is above them, perhaps for ever.
TEST_F(FloorsTest, JobsThatWaitForTheirOrdinaryTurnAreSubmittedAnewOneForEachOfTheFloor) {
  add_jobs(Priority::kHigh, 60);
  add_jobs(Priority::kLow, 4);
  for (PlanItem& item : snapshot_.items) {
    item.waits = item.stoppable = item.priority == Priority::kLow;
  }
  snapshot_.pending[Priority::kLow] = 4;
  add(Priority::kHigh, 10);
  add(Priority::kLow, 10);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  EXPECT_THAT(widened(snapshot_), ElementsAre(61, 62, 63));
  EXPECT_THAT(explanation(61), HasSubstr("its job in Slurm is submitted anew, to wait there as "
                                         "those of class high do"));
  for (const size_t stopped : {60, 61, 62}) snapshot_.items[stopped].stop_asked = true;
  EXPECT_THAT(widened(snapshot_), testing::IsEmpty());
  EXPECT_THAT(by_floor(), testing::IsEmpty());
}

TEST_F(FloorsTest, WithNothingAboveItAClassNeedsNoFloor) {
  add(Priority::kLow, 100);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
}

TEST_F(FloorsTest, AFloorIsNoShareOfTheGpusThatOtherPeopleHold) {
  add_jobs(Priority::kHigh, 24);
  add(Priority::kUrgent);
  add(Priority::kLow, 10);
  snapshot_.gpus->held_by_others = 40;
  EXPECT_EQ(by_floor().size(), 1) << "5 % of 24 GPUs are 1.2";
  snapshot_.gpus->held_by_others = 64;
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  EXPECT_THAT(plan(snapshot_).starts,
              testing::Contains(testing::Field(&JobStart::priority, Priority::kUrgent)));
}

TEST_F(FloorsTest, AFloorIsNoShareOfMoreThanTheJobsAtOnceCanUse) {
  snapshot_.limits.slots = 4;
  all_busy_until(0);
  add(Priority::kUrgent, 4);
  add(Priority::kLow, 10);
  EXPECT_THAT(by_floor(), testing::IsEmpty()) << "5 % of 4 GPUs are no job";
}

TEST_F(FloorsTest, AFloorOfLessThanAJobComesDueOnceItsShareHasComeOut) {
  all_busy_until(kHour, 1);
  add_jobs(Priority::kHigh, 4);
  add(Priority::kHigh, 10);
  add(Priority::kLow, 2);
  snapshot_.limits.slots = 5;
  // 5 % of 5 slots, 4 GPUs: 0.2 GPUs. A job of an hour every 5 hours.
  const double seconds = run_seconds(example_model(), kHour, kGpuWide);
  const Plan now = plan(snapshot_);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  EXPECT_EQ(now.idle_since.at(Priority::kLow), kPlannedAt);
  snapshot_.idle_since[Priority::kLow] = kPlannedAt - static_cast<int64_t>(4 * seconds) + 5;
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  snapshot_.idle_since[Priority::kLow] = kPlannedAt - static_cast<int64_t>(4 * seconds) - 5;
  EXPECT_EQ(by_floor().size(), 1) << "nothing adds up: one job and no more";
}

TEST_F(FloorsTest, WhatWasSavedUpIsSpentOnceTheClusterHasTheJobAndNotBefore) {
  all_busy_until(kHour, 1);
  add_jobs(Priority::kHigh, 4);
  add(Priority::kHigh, 10);
  add(Priority::kLow, 2);
  snapshot_.limits.slots = 6;
  constexpr int64_t kLongAgo = kPlannedAt - 100 * static_cast<int64_t>(kHour);
  snapshot_.idle_since[Priority::kLow] = kLongAgo;
  ASSERT_EQ(by_floor().size(), 1);
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), kLongAgo) << "Slurm may refuse the job";
  add_jobs(Priority::kLow, 1, true);
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), kPlannedAt);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
}

TEST_F(FloorsTest, WhatWasSavedUpForAClassesOnlyItemIsKeptUntilTheClusterHasItsJob) {
  all_busy_until(kHour, 1);
  add_jobs(Priority::kHigh, 4);
  add(Priority::kHigh, 10);
  const size_t low = snapshot_.items.size();
  add(Priority::kLow);
  snapshot_.limits.slots = 6;
  constexpr int64_t kLongAgo = kPlannedAt - 100 * static_cast<int64_t>(kHour);
  snapshot_.idle_since[Priority::kLow] = kLongAgo;
  ASSERT_EQ(by_floor().size(), 1);
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), kLongAgo);
  PlanItem& item = snapshot_.items[low];
  item.state = ItemState::kActive;
  item.width = kGpuWide;
  item.waits = item.stoppable = item.stop_asked = true;
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), kLongAgo)
      << "it is stopped to be submitted for the floor";
}

TEST_F(FloorsTest, WhatWasSavedUpIsKeptWhileNobodyKnowsTheGpus) {
  add(Priority::kLow, 2);
  snapshot_.gpus.reset();
  snapshot_.idle_since[Priority::kLow] = 5;
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), 5);
}

TEST_F(FloorsTest, AClassWithoutItemsOwesItselfNothing) {
  add_jobs(Priority::kHigh, 4);
  snapshot_.idle_since[Priority::kLow] = 1;
  EXPECT_EQ(plan(snapshot_).idle_since.at(Priority::kLow), kPlannedAt);
}

TEST_F(FloorsTest, ExplainSaysTheLongestWaitThatTheFloorGuarantees) {
  add_jobs(Priority::kHigh, 64);
  add(Priority::kHigh, 10);
  const int64_t last = add(Priority::kLow, 10).id;
  const Floor floor = plan(snapshot_).floors.at(Priority::kLow);
  ASSERT_EQ(floor.jobs, 3);
  // Six items of its class wait before it, three run: it is in the fourth row of three.
  EXPECT_NEAR(*longest_wait(floor, 6),
              floor.first_wait + 3 * (floor.job_seconds + floor.later_waits), 1e-6);
  EXPECT_THAT(explanation(last), HasSubstr("judging by what is known now it waits at most "));
}

TEST_F(FloorsTest, ExplainSaysThatThereIsNoBoundWithoutAFloor) {
  snapshot_.limits.floors.clear();
  add_jobs(Priority::kHigh, 64);
  add(Priority::kHigh, 10);
  const int64_t last = add(Priority::kLow, 10).id;
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  EXPECT_THAT(explanation(last),
              HasSubstr("how long items of higher classes keep it waiting has no bound, since the "
                        "floor of class low is 0"));
}

TEST_F(FloorsTest, ExplainSaysThatThereIsNoBoundWhileOthersHoldAllGpus) {
  snapshot_.gpus->held_by_others = 64;
  add(Priority::kHigh, 10);
  const int64_t last = add(Priority::kLow, 10).id;
  EXPECT_THAT(explanation(last),
              HasSubstr("has no bound, since other people's jobs hold all GPUs"));
}

TEST_F(FloorsTest, JobsInAnotherPartitionAreNoneOfTheFloor) {
  add_jobs(Priority::kHigh, 64);
  add_jobs(Priority::kLow, 3);
  add(Priority::kHigh, 10);
  add(Priority::kLow, 10);
  EXPECT_THAT(by_floor(), testing::IsEmpty());
  for (size_t i = 64; i < 67; ++i) {
    snapshot_.items[i] =
        asking(snapshot_.items[i], {.own_options = true, .place = {{"partition", "old"}}});
  }
  EXPECT_EQ(by_floor().size(), 3);
}

TEST_F(FloorsTest, AnItemWithAPlaceOrSizeOfItsOwnIsNotOfTheFloor) {
  add_jobs(Priority::kHigh, 64);
  add(Priority::kHigh, 10);
  PlanItem& own = add(Priority::kLow);
  own = asking(own, {.own_options = true, .size = "time=30-0"});
  const int64_t own_id = own.id;
  add(Priority::kLow, 1);
  const auto jobs = by_floor();
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_NE(jobs.front().item_id, own_id);
}

}  // namespace
}  // namespace scheduler
