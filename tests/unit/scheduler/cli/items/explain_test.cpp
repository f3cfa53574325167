// margay explain of items that wait: by when they are done, at which width, and after a promotion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/policy/policy.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"
#include "tests/unit/scheduler/policy/example_limits.h"

namespace scheduler {
namespace {

using db::Priority;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliExplainTest : public CliTest {
 protected:
  // Of class low, and its micrograph has been read.
  int64_t enqueue_low(const std::string& name) {
    db::Item record = *db::ItemStore(*database_).find(enqueue(name));
    record.micrograph_ctime_ns = 1;
    record.priority = Priority::kLow;
    db::ItemStore(*database_).update(record);
    return record.id;
  }
  // The plan of the worked examples' cluster, on which the item waits behind 127 that start.
  void publish_plan_of(int64_t item) {
    QueueSnapshot snapshot;
    snapshot.now = kMade;
    snapshot.expects_times = true;
    snapshot.kinds = {{.template_id = 1, .image_width = 4096, .image_height = 4096}};
    snapshot.times = {SearchTime{.work = kLong, .model = example_model()}};
    snapshot.limits = example_limits();
    snapshot.limits.slots = 127;
    snapshot.gpus = GpuForecast{.likely = idle(), .late = idle()};
    for (int64_t id = item; id < item + 128; ++id) {
      // It is the newest.
      const int64_t created = id == item ? kMade : id;
      snapshot.items.push_back(
          {.id = id, .priority = Priority::kLow, .kind = 0, .created = created, .owner = 1});
    }
    plans_.publish(std::make_shared<const PublishedPlan>(
        PublishedPlan{.plan = plan(snapshot), .interval = std::chrono::seconds(1)}));
  }

  static constexpr int64_t kMade = 2'000'000'000;
};

TEST_F(CliExplainTest, AWaitingItemHasItsBoundItsWidthsAndWhatAPromotionMeans) {
  register_template();
  const int64_t item = enqueue_low("a.mrc");
  EXPECT_THAT(margay({"explain", "1"}).out, Not(HasSubstr("90 %"))) << "nothing is known yet";
  publish_plan_of(item);
  const std::string text = margay({"explain", "1"}).out;
  // 16 h behind 16 h, each 1.29 times as long: 41.4 h.
  EXPECT_THAT(text,
              AllOf(HasSubstr("QUEUED: waits: "), HasSubstr("; with 90 % certainty by 2033-")));
  EXPECT_THAT(text,
              AllOf(HasSubstr("promoted to normal or high: starts 2033-05-18 "),
                    HasSubstr(" with 1 node (4 GPUs), done 2033-05-18 "),
                    HasSubstr(" sooner, for 0.2 GPU hours more; 7 other items are done later, "
                              "by at most 4 h 03 min")));
  EXPECT_THAT(text, AllOf(HasSubstr("promoted to urgent: "), HasSubstr("with 16 nodes (64 GPUs)")));
  EXPECT_LT(text.find("promoted to normal"), text.find("promoted to urgent")) << "the least first";
  EXPECT_EQ(text.find("promoted to", text.find("promoted to urgent") + 1), std::string::npos)
      << "normal and high mean the same, and share a line: " << text;

  const json forecast = margay({"explain", "1", "--json"}).document().at("forecast");
  EXPECT_NEAR(forecast.at("done_by").get<double>() - kMade, 41.37 * kHour, 36);
  const json width = forecast.at("widths").at(0);
  EXPECT_EQ(width.at("gets"), "1 GPU");
  EXPECT_EQ(width.at("expected"), true);
  EXPECT_NEAR(width.at("wait").get<double>(), 16.01 * kHour, 36);
  EXPECT_EQ(forecast.at("promotions").size(), 3U);
  EXPECT_EQ(forecast.at("promotions").at(0).at("delayed"), 7);
}

// An urgent item may have several widths: each has its line.
TEST_F(CliExplainTest, TheWidthsAreATableWithTheExpectedOneMarked) {
  register_template();
  const int64_t item = enqueue_low("a.mrc");
  db::Item record = *db::ItemStore(*database_).find(item);
  record.priority = Priority::kUrgent;
  db::ItemStore(*database_).update(record);
  QueueSnapshot snapshot;
  snapshot.now = kMade;
  snapshot.expects_times = true;
  snapshot.kinds = {{.template_id = 1, .image_width = 4096, .image_height = 4096}};
  snapshot.times = {SearchTime{.work = kLong, .model = example_model()}};
  snapshot.limits = example_limits();
  snapshot.limits.max_pending = 1;
  snapshot.pending[Priority::kUrgent] = 1;
  snapshot.gpus = GpuForecast{.likely = at_expected_rests(kLong), .late = at_expected_rests(kLong)};
  snapshot.items = {{.id = item, .priority = Priority::kUrgent, .kind = 0, .owner = 1}};
  plans_.publish(std::make_shared<const PublishedPlan>(
      PublishedPlan{.plan = plan(snapshot), .interval = std::chrono::seconds(1)}));
  const std::string text = margay({"explain", "1"}).out;
  EXPECT_THAT(text, HasSubstr("GETS"));
  const size_t chosen = text.find("1 node (4 GPUs)");
  ASSERT_NE(chosen, std::string::npos);
  EXPECT_THAT(text.substr(chosen, text.find('\n', chosen) - chosen), HasSubstr("as expected"));
  EXPECT_EQ(text.find("as expected"), text.rfind("as expected"));
  EXPECT_THAT(text, AllOf(HasSubstr("1 GPU"), HasSubstr("16 nodes (64 GPUs)")));
  EXPECT_THAT(text, Not(HasSubstr("promoted"))) << "nothing is above urgent";
}

TEST_F(CliExplainTest, OfManyItemsOnlyTheSentencesAreShown) {
  register_template();
  for (int i = 0; i < 21; ++i) enqueue_low(std::to_string(i) + ".mrc");
  publish_plan_of(1);
  const Outcome all = margay({"explain", "all"});
  EXPECT_EQ(all.exit, 0) << all.error;
  EXPECT_THAT(all.out, AllOf(HasSubstr("item 21, low, "), Not(HasSubstr("promoted")),
                             HasSubstr("is shown for at most 20 items at once")));
}

TEST_F(CliExplainTest, AnEndedItemHasNoForecast) {
  register_template();
  const int64_t item = enqueue_low("a.mrc");
  publish_plan_of(item);
  ASSERT_EQ(margay({"cancel", "1"}).exit, 0);
  EXPECT_THAT(margay({"explain", "1"}).out, Not(HasSubstr("90 %")));
  EXPECT_TRUE(margay({"explain", "1", "--json"}).document().at("forecast").is_null());
}

}  // namespace
}  // namespace scheduler
