// What is said of the next job of an item that waits is what the plan gives it when it starts.
#include "scheduler/policy/start_at_turn.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/scheduler/policy/random_snapshot.h"

namespace scheduler {
namespace {

// With searches that are known well enough for a time limit.
QueueSnapshot random_queue(unsigned seed) {
  QueueSnapshot snapshot = RandomSnapshot(seed).take();
  snapshot.expects_times = true;
  for (size_t kind = 0; kind < snapshot.times.size(); ++kind) {
    snapshot.times[kind]->well_known = true;
    snapshot.kinds.push_back(
        {.template_id = static_cast<int64_t>(kind), .image_width = 4096, .image_height = 4096});
  }
  snapshot.bounds[{db::Priority::kHigh, {{"qos", "short"}}}] = {.most_seconds = 900};
  return snapshot;
}

TurnItem turn_of(const QueueSnapshot& snapshot, int64_t id) {
  TurnItem turn{.item = snapshot.items.at(static_cast<size_t>(id) - 1)};
  if (turn.item.kind >= 0) turn.kind = snapshot.kinds.at(static_cast<size_t>(turn.item.kind));
  turn.item.kind = -1;
  return turn;
}

TEST(StartAtTurn, OfAnItemThatStartsIsItsStart) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const QueueSnapshot snapshot = random_queue(seed);
    const Plan made = plan(snapshot);
    for (const JobStart& start : made.starts) {
      const StartAtTurn turn = start_at_turn(made, turn_of(snapshot, start.item_id));
      const JobStart& found = turn.start;
      EXPECT_TRUE(turn.planned) << seed;
      EXPECT_EQ(found.explanation, start.explanation) << seed;
      EXPECT_EQ(found.floor_over, start.floor_over) << seed;
    }
  }
}

TEST(StartAtTurn, AJobOfTheSameWidthHasTheTimesThatThePolicyGivesIt) {
  int segments = 0;
  int limits = 0;
  int bounds = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const QueueSnapshot snapshot = random_queue(seed);
    Plan made = plan(snapshot);
    for (const JobStart& start : std::exchange(made.starts, {})) {
      const JobStart found =
          start_at_turn(made, turn_of(snapshot, start.item_id), start.width).start;
      EXPECT_EQ(found.segment, start.segment) << "item " << start.item_id << " of " << seed;
      EXPECT_EQ(found.limit, start.limit) << "item " << start.item_id << " of " << seed;
      EXPECT_EQ(found.longest, start.longest) << "item " << start.item_id << " of " << seed;
      segments += start.segment > 0 ? 1 : 0;
      limits += start.limit > 0 ? 1 : 0;
      bounds += start.longest > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(segments, 50);
  EXPECT_GT(limits, 50);
  EXPECT_GT(bounds, 50);
}

// With a place for each, an item of the site's width has it in the plan as well.
TEST(StartAtTurn, AnItemWhoseWidthIsNotChosenHasTheOneThatItIsSubmittedWith) {
  int tried = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    QueueSnapshot snapshot = random_queue(seed);
    snapshot.limits.class_options[db::Priority::kLow] = {{"partition", "old"}};
    const Plan made = plan(snapshot);
    snapshot.limits.slots = 1000;
    snapshot.limits.max_pending = 1000;
    for (const JobStart& start : plan(snapshot).starts) {
      const TurnItem turn = turn_of(snapshot, start.item_id);
      if (!has_own_place(snapshot.limits, turn.item)) continue;
      ++tried;
      const StartAtTurn found = start_at_turn(made, turn);
      EXPECT_TRUE(found.planned) << "item " << start.item_id << " of " << seed;
      EXPECT_EQ(found.start.width, start.width) << "item " << start.item_id << " of " << seed;
      EXPECT_EQ(found.start.segment, start.segment) << "item " << start.item_id << " of " << seed;
      EXPECT_EQ(found.start.limit, start.limit) << "item " << start.item_id << " of " << seed;
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(StartAtTurn, AnItemThatWaitsForItsTurnHasAWidthThatItsClassMayHave) {
  int waiting = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const QueueSnapshot snapshot = random_queue(seed);
    const Plan made = plan(snapshot);
    for (const Decision& decision : made.decisions) {
      if (decision.verdict != Verdict::kWait || decision.done_in < 0) continue;
      const TurnItem turn = turn_of(snapshot, decision.item_id);
      const StartAtTurn found = start_at_turn(made, turn);
      EXPECT_TRUE(found.planned) << seed;
      if (has_own_place(snapshot.limits, turn.item)) continue;
      ++waiting;
      const ClassWidths& rules = snapshot.limits.classes.at(decision.priority);
      EXPECT_GE(found.start.width, rules.least) << seed;
      EXPECT_LE(found.start.width, rules.deadline_cap) << seed;
      const JobBounds bounds = bounds_of(snapshot.bounds, turn.item);
      EXPECT_TRUE(bounds.most_nodes == 0 || found.start.width.nodes <= bounds.most_nodes) << seed;
      EXPECT_TRUE(bounds.most_gpus == 0 || found.start.width.gpus() <= bounds.most_gpus) << seed;
    }
  }
  EXPECT_GT(waiting, 200);
}

TEST(StartAtTurn, WhileNothingMayBeSubmittedTheWidthIsNotPlannedButTheTimesAreKnown) {
  int segments = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    QueueSnapshot snapshot = random_queue(seed);
    snapshot.limits.segment = 600;
    snapshot.pause_reason = "an administrator has paused submissions";
    const Plan made = plan(snapshot);
    for (const Decision& decision : made.decisions) {
      if (decision.verdict != Verdict::kWait) continue;
      const TurnItem turn = turn_of(snapshot, decision.item_id);
      if (has_own_place(snapshot.limits, turn.item)) continue;
      const StartAtTurn found = start_at_turn(made, turn);
      EXPECT_FALSE(found.planned) << seed;
      EXPECT_EQ(found.start.width, snapshot.limits.width) << seed;
      segments += found.start.segment > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(segments, 50);
}

TEST(StartAtTurn, AnItemThatThePlanDoesNotKnowHasTheWidthOfItsClass) {
  const Plan nothing{
      .limits = {.width = {.gpus_per_node = 1}, .urgent = Width{.nodes = 2, .gpus_per_node = 4}}};
  const StartAtTurn urgent =
      start_at_turn(nothing, {.item = {.id = 7, .priority = db::Priority::kUrgent}});
  EXPECT_TRUE(urgent.planned) << "its width is fixed";
  EXPECT_EQ(urgent.start.width, (Width{.nodes = 2, .gpus_per_node = 4}));
  EXPECT_EQ(urgent.start.segment, 0);
  EXPECT_EQ(urgent.start.limit, 0);
  EXPECT_EQ(start_at_turn(nothing, {.item = {.id = 8}}).start.width, (Width{.gpus_per_node = 1}));
}

}  // namespace
}  // namespace scheduler
