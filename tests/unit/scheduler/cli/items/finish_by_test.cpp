#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliFinishByTest : public CliTest {
 protected:
  Outcome enqueue_until(const std::string& time) const {
    return enqueue_files({write("one.mrc")},
                         {"--defocus-u", "1e4", "--defocus-v", "1e4", "--finish-by", time});
  }
};

TEST_F(CliFinishByTest, ADeadlineIsGivenAtEnqueueAndShown) {
  register_template();
  const Outcome enqueued = enqueue_until("2099-11-24T08:00Z");
  ASSERT_EQ(enqueued.exit, 0) << enqueued.error;
  EXPECT_THAT(enqueued.error, Not(HasSubstr("AT RISK")));
  EXPECT_EQ(get("/v1/items/1").at("item").at("finish_by"), 4'099'190'400);
  EXPECT_EQ(margay({"list", "--json"}).document().at("items").at(0).at("finish_by"), 4'099'190'400);
  EXPECT_THAT(margay({"show", "1"}).out, HasSubstr("finish by     2099-11-2"));
  EXPECT_THAT(margay({"list"}).out, Not(HasSubstr("AT RISK")));
}

TEST_F(CliFinishByTest, ADeadlineInThePastIsAcceptedWithAWarningAndListedAtRisk) {
  register_template();
  const Outcome enqueued = enqueue_until("2020-01-01T00:00Z");
  EXPECT_EQ(enqueued.exit, 0);
  EXPECT_THAT(enqueued.error,
              AllOf(HasSubstr("the deadline "), HasSubstr("has already passed; set another "),
                    HasSubstr("with 'margay finish-by ITEM --time TIME'")));
  EXPECT_THAT(margay({"list"}).out, HasSubstr("QUEUED AT RISK"));
  EXPECT_THAT(margay({"show", "1"}).out, HasSubstr(", AT RISK of being up to "));
  EXPECT_THAT(margay({"explain", "1"}).out, HasSubstr("AT RISK: its deadline passed "));
  EXPECT_GT(margay({"explain", "1", "--json"}).document().at("late_by"), 0);
}

TEST_F(CliFinishByTest, AnItemAtRiskIsSaidToBeSoByMinutesWhenItIsEnqueued) {
  register_template();
  Plan known;
  known.made = std::time(nullptr);
  FastestSearch hours{.kind = {.template_id = 1, .image_width = 4096, .image_height = 4096}};
  hours.seconds.fill(2 * 3600);
  known.fastest = {hours};
  plans_.publish(std::make_shared<const PublishedPlan>(PublishedPlan{.plan = known}));
  const Outcome enqueued = enqueue_until("+1h");
  EXPECT_EQ(enqueued.exit, 0);
  EXPECT_THAT(enqueued.error,
              AllOf(HasSubstr("AT RISK: 1 item may be done up to 1 h 00 min after the deadline 20"),
                    HasSubstr("even if it starts now; use --priority high or urgent")));
}

TEST_F(CliFinishByTest, ExpectedTimesAreShownWhereThePlanKnowsThem) {
  register_template();
  const int64_t item = enqueue("a.mrc");
  EXPECT_THAT(margay({"status"}).out, HasSubstr("when 1 item is done is not known"));
  db::Item record = *db::ItemStore(*database_).find(item);
  record.micrograph_ctime_ns = 1;
  db::ItemStore(*database_).update(record);
  Plan known;
  known.made = 2'000'000'000;
  known.reasons = {{.why = Why::kQueue}};
  known.decisions = {{.item_id = item, .starts_in = 100, .done_in = 700}};
  known.queue = {.done_in = 700, .unknown = 2};
  plans_.publish(std::make_shared<const PublishedPlan>(PublishedPlan{.plan = known}));
  const nlohmann::json shown = get("/v1/items/1").at("item");
  EXPECT_EQ(shown.at("expected_start"), 2'000'000'100);
  EXPECT_EQ(shown.at("expected_end"), 2'000'000'700);
  EXPECT_EQ(get("/v1/items").at("items").at(0).at("expected_end"), 2'000'000'700);
  EXPECT_EQ(get("/v1/status").at("expected_end"), 2'000'000'700);
  for (const char* command : {"show", "explain"}) {
    EXPECT_THAT(margay({command, "1"}).out,
                AllOf(HasSubstr("starts 2033-05-18"), HasSubstr("done 2033-05-18")));
  }
  EXPECT_THAT(margay({"status"}).out, AllOf(HasSubstr("queue       expected to be done 2033-05-18"),
                                            HasSubstr("; when 2 items are done is not known")));
}

TEST_F(CliFinishByTest, TheDeadlineOfAnItemIsChangedAndTakenAway) {
  register_template();
  ASSERT_EQ(enqueue_until("2020-01-01T00:00Z").exit, 0);
  const int64_t before = std::time(nullptr);
  ASSERT_EQ(margay({"finish-by", "1", "--time", "+300h"}).exit, 0);
  EXPECT_GE(get("/v1/items/1").at("item").at("finish_by"), before + 300 * 3600);
  EXPECT_THAT(margay({"list"}).out, Not(HasSubstr("AT RISK")));
  ASSERT_EQ(margay({"finish-by", "1", "--time", "none"}).exit, 0);
  EXPECT_EQ(get("/v1/items/1").at("item").at("finish_by"), 0);
  EXPECT_THAT(margay({"show", "1"}).out, Not(HasSubstr("finish by   ")));
  EXPECT_EQ(margay({"finish-by", "7", "--time", "none"}).exit, 4);
}

TEST_F(CliFinishByTest, WhatIsNoTimeIsAUsageErrorThatNamesTheOptionAndTheForms) {
  const Outcome enqueued = enqueue_until("soon");
  EXPECT_EQ(enqueued.exit, 2);
  EXPECT_THAT(enqueued.error,
              HasSubstr("--finish-by: invalid time 'soon'; write for example +3h, 08:00, "
                        "2026-11-24T08:00 or 2026-11-24T07:00Z"));
  const Outcome changed = margay({"finish-by", "1", "--time", "25:00"});
  EXPECT_EQ(changed.exit, 2);
  EXPECT_THAT(changed.error,
              AllOf(HasSubstr("--time: invalid time '25:00'"), HasSubstr("or none")));
}

}  // namespace
}  // namespace scheduler
