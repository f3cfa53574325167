// What users see of items that have changed since the daemon's last plan.
#include "scheduler/commands/published_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/policy/plan_text.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kMade = 1000;
constexpr const char* kWithinASecond = "the next plan is made within 1 second";

db::Item queued(int64_t id, Priority priority = Priority::kNormal) {
  return {.id = id, .priority = priority, .micrograph_ctime_ns = 1};
}

PublishedPlan published(std::vector<PlanItem> items) {
  QueueSnapshot snapshot;
  snapshot.now = kMade;
  snapshot.busy_slots = 1;
  snapshot.items = std::move(items);
  return {.plan = plan(snapshot), .interval = std::chrono::seconds(1)};
}

TEST(PublishedPlan, AnItemThatWaitsAsPlannedSaysWhy) {
  const PublishedPlan plan = published({{.id = 3}, {.id = 5}});
  EXPECT_EQ(explain_item(queued(5), nullptr, &plan, kMade),
            "waits: 1 item before it (1 normal); 1 of 1 device slot busy");
}

TEST(PublishedPlan, WhatWasEnqueuedPromotedOrReleasedSinceIsNotPlannedYet) {
  const PublishedPlan plan =
      published({{.id = 1}, {.id = 2, .state = ItemState::kHeld}, {.id = 3, .unread = true}});
  const std::string not_yet = std::string("not planned yet: ") + kWithinASecond;
  EXPECT_EQ(explain_item(queued(9), nullptr, &plan, kMade), not_yet);
  EXPECT_EQ(explain_item(queued(1, Priority::kUrgent), nullptr, &plan, kMade), not_yet);
  EXPECT_EQ(explain_item(queued(2), nullptr, &plan, kMade), not_yet);
  EXPECT_EQ(explain_item(queued(3), nullptr, &plan, kMade), not_yet) << "it has been read";
  db::Item unread = queued(9);
  unread.micrograph_ctime_ns = 0;
  EXPECT_EQ(explain_item(unread, nullptr, &plan, kMade), kBeingRead);
  EXPECT_EQ(explain_item(queued(9), nullptr, nullptr, kMade),
            "not planned yet: the daemon is making its first plan");
}

TEST(PublishedPlan, WhatWasHeldOrCancelledSinceSaysSoAtOnce) {
  const PublishedPlan plan = published({{.id = 1}, {.id = 2, .state = ItemState::kActive}});
  db::Item held = queued(1);
  held.state = ItemState::kHeld;
  EXPECT_EQ(explain_item(held, nullptr, &plan, kMade), "held (margay release 1)");
  db::Item cancelled = queued(2);
  cancelled.state = ItemState::kActive;
  cancelled.cancel_requested = true;
  const db::Attempt attempt{.item_id = 2, .state = db::AttemptState::kRunning};
  EXPECT_EQ(explain_item(cancelled, &attempt, &plan, kMade), kBeingCancelled);
  cancelled.state = ItemState::kCancelled;
  cancelled.reason = "cancelled by ann";
  EXPECT_EQ(explain_item(cancelled, nullptr, &plan, kMade), "cancelled by ann");
}

TEST(PublishedPlan, ARetryCountsItsSecondsAndIsThenPlanned) {
  const PublishedPlan plan = published({{.id = 1, .not_before = kMade + 60}});
  db::Item item = queued(1);
  item.not_before = kMade + 60;
  EXPECT_EQ(explain_item(item, nullptr, &plan, kMade), "waiting 60 seconds before a retry");
  EXPECT_EQ(explain_item(item, nullptr, &plan, kMade + 1), "waiting 59 seconds before a retry");
  item.not_before = kMade;
  EXPECT_THAT(explain_item(item, nullptr, &plan, kMade), StartsWith("not planned yet"));
}

TEST(PublishedPlan, WhatAnItemGotIsExplainedFromItsAttemptWhateverThePlanSays) {
  const PublishedPlan plan = published({{.id = 1}});
  db::Item item = queued(1);
  item.state = ItemState::kActive;
  db::Attempt attempt{.item_id = 1, .state = db::AttemptState::kRunning, .shape = "1 GPU"};
  attempt.explanation = "oldest of 2";
  attempt.host = "node1";
  const std::string runs = "runs with 1 GPU on node1; decided at its start: oldest of 2";
  EXPECT_EQ(explain_item(item, &attempt, &plan, kMade), runs);
  EXPECT_EQ(explain_item(item, &attempt, nullptr, kMade), runs);
  item.priority = Priority::kUrgent;
  EXPECT_THAT(explain_item(item, &attempt, &plan, kMade),
              testing::AllOf(StartsWith(runs), EndsWith(kWithinASecond)));
}

TEST(PublishedPlan, AnOldPlanGivesItsAge) {
  const PublishedPlan plan = published({{.id = 1}});
  EXPECT_THAT(explain_item(queued(1), nullptr, &plan, kMade + 60),
              EndsWith("the plan is 60 seconds old, since the daemon waits for the cluster"));
  EXPECT_THAT(explain_item(queued(9), nullptr, &plan, kMade + 60),
              HasSubstr("the last plan is 60 seconds old"));
}

// Two searches of an hour, one after the other on one slot.
class ExpectedPlan : public testing::Test {
 protected:
  ExpectedPlan() {
    QueueSnapshot snapshot;
    snapshot.now = kMade;
    snapshot.expects_times = true;
    snapshot.limits.width = Width{};
    snapshot.kinds = {{.template_id = 1, .image_width = 4096, .image_height = 4096}};
    snapshot.times = {SearchTime{.work = 3600}};
    snapshot.items = {{.id = 1, .kind = 0}, {.id = 2, .kind = 0, .finish_by = kDeadline}};
    plan_ = {.plan = plan(snapshot), .interval = std::chrono::seconds(1)};
  }
  static constexpr int64_t kSearch = 3635;  // with its start and its serial part
  static constexpr int64_t kDeadline = kMade + 6000;
  PublishedPlan plan_;
};

TEST_F(ExpectedPlan, SaysWhenAnItemStartsAndIsDoneAndTheWholeQueue) {
  const auto times = expected_times(queued(1), &plan_);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->start, kMade + kSearch) << "the one with the deadline goes first";
  EXPECT_EQ(times->done, kMade + 2 * kSearch);
  EXPECT_EQ(expected_queue(&plan_).done, kMade + 2 * kSearch);
  EXPECT_EQ(expected_queue(nullptr).done, 0);
}

TEST_F(ExpectedPlan, SaysNothingOfAnItemThatHasChangedSince) {
  EXPECT_FALSE(expected_times(queued(1, Priority::kUrgent), &plan_));
  EXPECT_FALSE(expected_times(queued(9), &plan_));
  EXPECT_FALSE(expected_times(queued(1), nullptr));
  db::Item item = queued(1);
  item.state = ItemState::kHeld;
  EXPECT_FALSE(expected_times(item, &plan_));
  item.state = ItemState::kDone;
  EXPECT_FALSE(expected_times(item, &plan_));
}

TEST_F(ExpectedPlan, AnItemThatIsDoneTooLateForItsWaitIsAtRisk) {
  db::Item item = queued(1);
  item.finish_by = kDeadline;
  EXPECT_EQ(late_by(item, &plan_, kMade), 2 * kSearch - 6000);
  EXPECT_THAT(explain_item(item, nullptr, &plan_, kMade),
              HasSubstr("AT RISK: it is expected to be done 22 minutes after its deadline"));
}

TEST_F(ExpectedPlan, AnItemThatIsNotPlannedYetTakesAsLongAsTheOthersOfItsTemplate) {
  db::Item item = queued(9);
  item.template_id = 1;
  item.finish_by = kMade + 60;
  const auto late = late_by(item, &plan_, kMade);
  ASSERT_TRUE(late);
  EXPECT_GT(*late, kSearch - 60) << "with 90 % certainty";
  EXPECT_THAT(explain_item(item, nullptr, &plan_, kMade),
              HasSubstr("AT RISK: may be done up to 78 minutes after its deadline even if it "
                        "starts now"));
  item.micrograph_size = {.width = 4096, .height = 4096};
  EXPECT_EQ(late_by(item, &plan_, kMade), late);
  item.template_id = 2;
  EXPECT_FALSE(late_by(item, &plan_, kMade)) << "nothing is known of it";
}

}  // namespace
}  // namespace scheduler
