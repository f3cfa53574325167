// What users see of the daemon's plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/attempts.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliPlanTest : public CliTest {
 protected:
  // Its micrograph has been read, so that it can start.
  int64_t enqueue_ready(const std::string& name) {
    const int64_t id = enqueue(name);
    db::ItemStore items(*database_);
    db::Item item = items.find(id).value();
    item.micrograph_ctime_ns = 1;
    items.update(item);
    return id;
  }
};

TEST_F(CliPlanTest, BeforeTheFirstPlanThereIsNothingToDo) {
  const Outcome shown = margay({"plan"});
  EXPECT_EQ(shown.exit, 0) << shown.error;
  EXPECT_EQ(shown.out, "margayd has not made its first plan yet.\n");
  EXPECT_EQ(get("/v1/plan").at("made"), 0);
}

TEST_F(CliPlanTest, WhatIsToBeSubmittedAndWhatIsNextIsShownWithItsReason) {
  register_template();
  for (const char* name : {"a.mrc", "b.mrc", "c.mrc"}) enqueue_ready(name);
  plan_as_the_daemon();
  const Outcome shown = margay({"plan"});
  EXPECT_EQ(shown.exit, 10) << shown.error;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("To be submitted:"), HasSubstr("first of 3 ready items"),
                               HasSubstr("Next:"), HasSubstr("waits: next in the queue"),
                               HasSubstr("1 item waits.")));
  const nlohmann::json plan = margay({"plan", "--json"}).document();
  ASSERT_EQ(plan.at("starts").size(), 2u);
  EXPECT_EQ(plan.at("starts").at(0).at("item"), 1);
  EXPECT_EQ(plan.at("starts").at(0).at("gets"), "1 device");
  ASSERT_EQ(plan.at("next").size(), 1u);
  EXPECT_EQ(plan.at("next").at(0).at("item"), 3);
}

TEST_F(CliPlanTest, WhatHasBeenSubmittedSinceIsLeftOut) {
  register_template();
  enqueue_ready("a.mrc");
  const int64_t cancelled = enqueue_ready("b.mrc");
  plan_as_the_daemon();
  activate(1);
  set_state(cancelled, db::ItemState::kCancelled);
  const Outcome shown = margay({"plan"});
  EXPECT_EQ(shown.exit, 0);
  EXPECT_THAT(shown.out, AllOf(Not(HasSubstr("To be submitted")),
                               HasSubstr("Nothing to do at present; 0 items wait.")));
}

TEST_F(CliPlanTest, AJobThatIsToBeStoppedForAWiderOneIsShownUntilItWasAsked) {
  register_template();
  enqueue_ready("a.mrc");
  db::Attempt attempt = activate(1);
  Plan made{.made = 1, .limits = {.queues = true}};
  made.texts = {"has 1 GPU, and urgent items get 2 nodes (8 GPUs)"};
  made.reasons = {{.why = Why::kWidens, .text = 0}};
  made.decisions = {{.item_id = 1, .verdict = Verdict::kWiden}};
  made.widenings = {{.item_id = 1, .width = {.nodes = 2, .gpus_per_node = 4}}};
  plans_.publish(std::make_shared<const PublishedPlan>(PublishedPlan{.plan = made}));
  const Outcome shown = margay({"plan"});
  EXPECT_EQ(shown.exit, 10);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("To be stopped with a checkpoint:"),
                               HasSubstr("2 nodes (8 GPUs)"), HasSubstr("has 1 GPU, and urgent")));
  attempt.stop_asked = 1;
  ASSERT_TRUE(db::AttemptStore(*database_).update(attempt));
  EXPECT_EQ(margay({"plan"}).exit, 0);
}

TEST_F(CliPlanTest, WhyNothingIsSubmittedIsSaid) {
  register_template();
  enqueue_ready("a.mrc");
  Plan made{.made = 1, .pause_reason = "paused by root: new driver"};
  made.reasons = {{.why = Why::kQueue}};
  made.decisions = {{.item_id = 1}};
  plans_.publish(std::make_shared<const PublishedPlan>(PublishedPlan{.plan = made}));
  const Outcome shown = margay({"plan"});
  EXPECT_EQ(shown.exit, 0);
  EXPECT_THAT(shown.out, HasSubstr("Nothing is submitted: paused by root: new driver"));
}

}  // namespace
}  // namespace scheduler
