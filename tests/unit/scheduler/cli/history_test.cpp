// A simulation of what a real database has recorded, by a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

#include "base/read_file.h"
#include "db/attempts.h"
#include "db/measures.h"
#include "db/templates.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// One GPU does 100 correlations per second, and a search has 720,000: two hours.
constexpr int64_t kOrientations = 720'000;
constexpr double kRate = 100;

class CliHistoryTest : public CliTest {
 protected:
  CliHistoryTest() {
    template_ = db::TemplateStore(*database_)
                    .insert({.name = "ribosome",
                             .volume_path = "/v.mrc",
                             .counts = {.engine = "1.0",
                                        .orientations = kOrientations,
                                        .defocus_planes = 1,
                                        .pixel_sizes = 1,
                                        .template_size = 128}});
    db::MeasureStore(*database_)
        .put({.engine = "1.0",
              .device = "gpu",
              .height = 4096,
              .width = 4096,
              .template_size = 128,
              .gpus = 1,
              .runs = 9,
              .mean = std::log(kRate)});
  }

  // An item that arrived so many seconds ago.
  db::Item arrived(int64_t ago, const std::string& group = "ann",
                   db::ItemState state = db::ItemState::kQueued) {
    db::Item item{.micrograph_path = "/m" + std::to_string(++items_),
                  .template_id = template_,
                  .state = state,
                  .micrograph_size = {.width = 4096, .height = 4096},
                  .group = group,
                  .created = now_ - ago};
    item.id = db::ItemStore(*database_).insert(item);
    return item;
  }

  void add_attempt(int64_t item, int number, db::AttemptState state, int64_t seconds) {
    db::AttemptStore(*database_)
        .insert({.item_id = item,
                 .number = number,
                 .token = "t" + std::to_string(item) + "-" + std::to_string(number),
                 .state = state,
                 .gpus = 4,
                 .nodes = 1,
                 .gpus_per_node = 4,
                 .started = now_ - 50'000,
                 .ended = now_ - 50'000 + seconds});
  }

  int64_t now_ = std::time(nullptr);
  int64_t template_ = 0;
  int items_ = 0;
};

TEST_F(CliHistoryTest, HasWhatArrivedInThatTimeWithItsWork) {
  arrived(40 * 86400);
  const db::Item waits = arrived(86400);
  const db::Item done = arrived(86400, "bob", db::ItemState::kDone);
  // Two jobs, each with 40 s of start-up and serial part on a node of four GPUs.
  add_attempt(done.id, 1, db::AttemptState::kCheckpointed, 1040);
  add_attempt(done.id, 2, db::AttemptState::kFailed, 9000);
  add_attempt(done.id, 3, db::AttemptState::kDone, 540);
  arrived(3600, "ann", db::ItemState::kCancelled);
  const nlohmann::json page = get("/v1/history?since=" + std::to_string(now_ - 30 * 86400));
  ASSERT_EQ(page.at("items").size(), 2U) << page;
  EXPECT_EQ(page.at("next"), 0);
  EXPECT_EQ(page.at("left_out"), 1);
  const nlohmann::json& first = page.at("items").at(0);
  EXPECT_EQ(first.at("item"), waits.id);
  EXPECT_EQ(first.at("arrived"), now_ - 86400);
  EXPECT_EQ(first.at("group"), "ann");
  EXPECT_NEAR(first.at("work_seconds").get<double>(), 7200, 1);
  EXPECT_TRUE(first.at("took_seconds").is_null());
  const nlohmann::json& second = page.at("items").at(1);
  EXPECT_NEAR(second.at("took_seconds").get<double>(), 4 * (1000 + 500), 1e-6);
  EXPECT_EQ(page.at("model").at("serial_seconds"), 20);
}

TEST_F(CliHistoryTest, IsReadPageByPage) {
  for (int i = 0; i < 5; ++i) arrived(100 - i);
  const std::string address = "/v1/history?since=" + std::to_string(now_ - 86400) + "&limit=2";
  nlohmann::json page = get(address);
  EXPECT_EQ(page.at("items").size(), 2U);
  page = get(address + "&after=" + std::to_string(page.at("next").get<int64_t>()));
  EXPECT_EQ(page.at("items").at(0).at("item"), 3);
  page = get(address + "&after=" + std::to_string(page.at("next").get<int64_t>()));
  EXPECT_EQ(page.at("items").size(), 1U);
  EXPECT_EQ(page.at("next"), 0);
  EXPECT_EQ(get("/v1/history").at("status"), 400);
}

TEST_F(CliHistoryTest, IsSimulatedAndSavedAsATraceThatComesToTheSame) {
  for (int i = 0; i < 20; ++i) arrived(50'000 - 100 * i);
  const db::Item done = arrived(40'000, "bob", db::ItemState::kDone);
  add_attempt(done.id, 1, db::AttemptState::kDone, 2040);
  arrived(3600, "ann", db::ItemState::kFailed);
  site_.classes["urgent"] = {{"cap", "node"}};
  const std::string path = file("trace.yaml");
  const Outcome history =
      margay({"simulate", "--from-history", "30d", "--save", path, "--what-if", "site.nodes=3"});
  ASSERT_EQ(history.exit, 0) << history.error;
  EXPECT_THAT(history.out, AllOf(HasSubstr("21 items on 2 nodes with 4 GPUs each"),
                                 HasSubstr("Left out: 1 item was cancelled or failed."),
                                 HasSubstr("ours    site.nodes=3")));
  EXPECT_THAT(base::read_file(path).value(),
              AllOf(HasSubstr("# What arrived at this site within 30d before 20"),
                    HasSubstr("site: {nodes: 2, gpus_per_node: 4, max_jobs: 8}"),
                    HasSubstr("urgent: {cap: node}"),
                    HasSubstr("work_gpu_hours: 2, actual_gpu_hours: 2.22222, group: \"bob\"")));
  const Outcome saved = margay({"simulate", path, "--what-if", "site.nodes=3"});
  ASSERT_EQ(saved.exit, 0) << saved.error;
  const auto tables = [](const Outcome& outcome) {
    return outcome.out.substr(outcome.out.find("POLICY"));
  };
  EXPECT_EQ(tables(saved), tables(history));
}

TEST_F(CliHistoryTest, SaysWhatIsMissing) {
  const Outcome none = margay({"simulate", "--from-history", "1h"});
  EXPECT_EQ(none.exit, 4);
  EXPECT_THAT(none.error, HasSubstr("no item has arrived in the last 1h; ask for a longer time"));
  db::Item unknown = arrived(60);
  unknown.micrograph_size = {};
  db::ItemStore(*database_).update(unknown);
  const Outcome no_time = margay({"simulate", "--from-history", "1h"});
  EXPECT_EQ(no_time.exit, 4);
  EXPECT_THAT(no_time.error, HasSubstr("of no item that arrived in the last 1h is it known how"));
  arrived(50);
  EXPECT_THAT(margay({"simulate", "--from-history", "1h"}).out,
              HasSubstr("of 1 item it is not known how long it takes"));
  site_ = {.problem = "slurmrestd does not answer"};
  const Outcome no_site = margay({"simulate", "--from-history", "1h"});
  EXPECT_EQ(no_site.exit, 1);
  EXPECT_THAT(no_site.error,
              HasSubstr("the site's nodes are not known: slurmrestd does not answer"));
  server_.reset();
  EXPECT_EQ(margay({"simulate", "--from-history", "1h"}).exit, 7);
}

}  // namespace
}  // namespace scheduler
