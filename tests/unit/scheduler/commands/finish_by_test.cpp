// Deadlines: who sets them, and what users are shown of an item that misses its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/audit.h"
#include "scheduler/commands/known_queue.h"
#include "tests/unit/scheduler/commands/commands_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kTomorrow = 1'795'593'600;  // 2026-11-25 08:00 UTC

class FinishByTest : public CommandsTest {
 protected:
  db::Item enqueue_until(int64_t time, const std::string& name = "a.mrc") {
    EnqueueRequest wanted = request(name);
    wanted.finish_by = time;
    return commands_->enqueue(user_, wanted);
  }
};

TEST_F(FinishByTest, ADeadlineIsSetAtEnqueueOrLaterByItsOwnerAndReachesThePolicy) {
  const auto id = enqueue_until(kTomorrow).id;
  EXPECT_EQ(item(id).finish_by, kTomorrow);
  KnownQueue queue(*database_);
  EXPECT_EQ(queue.read(0, {}).items.at(0).finish_by, kTomorrow);
  commands_->finish_by(user_, id, kTomorrow + 3600);
  EXPECT_EQ(queue.read(0, {}).items.at(0).finish_by, kTomorrow + 3600);
  commands_->finish_by(root_, id, 0);
  EXPECT_EQ(item(id).finish_by, 0);
  const auto history = db::AuditStore(*database_).of_item(id);
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[1].action, "finish-by");
  EXPECT_EQ(history[1].detail, "2026-11-25 08:00 UTC -> 2026-11-25 09:00 UTC");
  EXPECT_EQ(history[2].detail, "2026-11-25 09:00 UTC -> none");
}

TEST_F(FinishByTest, ADeadlineOfOthersOrOfAnEndedItemStaysAndNoTimeIsRefused) {
  const auto id = enqueue_until(kTomorrow).id;
  EXPECT_THAT(refusal<NotPermitted>([&] { commands_->finish_by(other_, id, 0); }),
              HasSubstr("belongs to ann"));
  EXPECT_THAT(refusal<Invalid>([&] { commands_->finish_by(user_, id, -1); }),
              HasSubstr("invalid \"finish_by\" -1; give seconds"));
  EXPECT_THAT(refusal<Invalid>([&] { enqueue_until(-5, "b.mrc"); }), HasSubstr("finish_by"));
  set_state(id, ItemState::kDone);
  EXPECT_THAT(refusal<Conflict>([&] { commands_->finish_by(user_, id, 0); }),
              HasSubstr("has ended: its deadline cannot be changed"));
  EXPECT_EQ(item(id).finish_by, kTomorrow);
}

TEST_F(FinishByTest, ADeadlineThatHasPassedIsAcceptedAndAtRiskUntilTheItemEnds) {
  const auto id = enqueue_until(clock_.now() - 600).id;
  EXPECT_THAT(explained(id), HasSubstr("AT RISK: its deadline passed 10 minutes ago; promote it "
                                       "(margay promote " +
                                       std::to_string(id) + " --priority high)"));
  EXPECT_EQ(commands_->show(id).late_by, 600);
  set_state(id, ItemState::kDone, "");
  EXPECT_THAT(explained(id), Not(HasSubstr("AT RISK")));
  EXPECT_EQ(commands_->show(id).late_by, std::nullopt);
}

TEST_F(FinishByTest, HowLateAnItemIsIsInTheUnitThatSuits) {
  const auto id = enqueue_until(clock_.now()).id;
  const std::vector<std::pair<int64_t, std::string>> spans = {{119, "119 seconds ago"},
                                                              {121, "3 minutes ago"},
                                                              {7200, "2 h 00 min ago"},
                                                              {7261, "2 h 02 min ago"},
                                                              {172'801, "2 d 1 h ago"}};
  for (const auto& [seconds, text] : spans) {
    commands_->finish_by(user_, id, clock_.now() - seconds);
    EXPECT_THAT(explained(id), HasSubstr("its deadline passed " + text));
  }
}

TEST(Deadlines, AnItemThatWouldBeLateIfItStartedNowSaysByHowMuchAndWhatToDo) {
  PublishedPlan plan{.plan = {.made = 1000}};
  plan.plan.reasons = {{.why = Why::kQueue}};
  plan.plan.decisions = {{.item_id = 3}, {.item_id = 5}};
  plan.plan.outlooks = {{.item_id = 3, .done_by = 5000}, {.item_id = 5, .done_by = 0}};
  db::Item item{.id = 3, .micrograph_ctime_ns = 1, .finish_by = 4400};
  EXPECT_EQ(late_by(item, &plan, 1000), 600);
  EXPECT_THAT(
      explain_item(item, nullptr, &plan, 1000),
      HasSubstr("; AT RISK: may be done up to 10 minutes after its deadline even if it starts now; "
                "promote it"));
  item.priority = Priority::kUrgent;
  EXPECT_THAT(explain_item(item, nullptr, &plan, 1000),
              HasSubstr("it starts now; set a later deadline (margay finish-by 3 --time TIME)"));
  item.finish_by = 5000;
  EXPECT_THAT(explain_item(item, nullptr, &plan, 1000), Not(HasSubstr("AT RISK")));
  EXPECT_EQ(late_by(item, &plan, 1000), std::nullopt);
}

TEST(Deadlines, WhereTheTimeOfASearchIsNotKnownNothingIsPromised) {
  PublishedPlan plan{.plan = {.made = 1000}};
  plan.plan.reasons = {{.why = Why::kQueue}};
  plan.plan.decisions = {{.item_id = 5}};
  plan.plan.outlooks = {{.item_id = 5, .done_by = 0}};
  db::Item item{.id = 5, .micrograph_ctime_ns = 1, .finish_by = 1001};
  EXPECT_EQ(late_by(item, &plan, 1000), std::nullopt);
  EXPECT_THAT(
      explain_item(item, nullptr, &plan, 1000),
      HasSubstr("whether it meets its deadline is not known, since it is not known how long "
                "its search takes"));
  EXPECT_EQ(late_by(item, &plan, 1011), 10);
}

}  // namespace
}  // namespace scheduler
