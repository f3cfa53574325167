// What an item that waits is told of its next job is what the plan gives it when it starts.
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
      const JobStart found = start_at_turn(made, turn_of(snapshot, start.item_id));
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
      const JobStart found = start_at_turn(made, turn_of(snapshot, start.item_id), start.width);
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

TEST(StartAtTurn, AnItemThatWaitsHasTheWidthThatIsExpectedForIt) {
  int expected = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const QueueSnapshot snapshot = random_queue(seed);
    const Plan made = plan(snapshot);
    for (const Decision& decision : made.decisions) {
      if (decision.verdict != Verdict::kWait || decision.width >= made.limits.menu.size()) continue;
      ++expected;
      EXPECT_EQ(start_at_turn(made, turn_of(snapshot, decision.item_id)).width,
                made.limits.menu[decision.width])
          << seed;
    }
  }
  EXPECT_GT(expected, 50);
}

TEST(StartAtTurn, AnItemThatThePlanDoesNotKnowHasTheWidthOfItsClass) {
  const Plan nothing{
      .limits = {.width = {.gpus_per_node = 1}, .urgent = Width{.nodes = 2, .gpus_per_node = 4}}};
  const JobStart urgent =
      start_at_turn(nothing, {.item = {.id = 7, .priority = db::Priority::kUrgent}});
  EXPECT_EQ(urgent.width, (Width{.nodes = 2, .gpus_per_node = 4}));
  EXPECT_EQ(urgent.segment, 0);
  EXPECT_EQ(urgent.limit, 0);
  EXPECT_EQ(start_at_turn(nothing, {.item = {.id = 8}}).width, (Width{.gpus_per_node = 1}));
}

}  // namespace
}  // namespace scheduler
