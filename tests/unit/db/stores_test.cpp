#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "db/audit.h"
#include "db/contents.h"
#include "db/measures.h"
#include "db/pauses.h"
#include "db/results.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

TEST_F(StoresTest, EachLaneHasOnePauseAndTheQueueHasItsOwn) {
  PauseStore pauses(database_);
  const std::map<std::string, std::string> gpu = {{"partition", "gpu"}};
  pauses.set_lane({.place = gpu, .who = "root", .reason = "first"});
  pauses.set_lane({.place = gpu, .who = "root", .reason = "new driver", .since = 7});
  pauses.set_lane({.place = {{"account", "lab"}, {"qos", "short"}}});
  ASSERT_EQ(pauses.lanes().size(), 2U);
  EXPECT_EQ(pauses.lanes()[1].place, gpu);
  EXPECT_EQ(pauses.lanes()[1].reason, "new driver");
  EXPECT_FALSE(pauses.find());
  EXPECT_FALSE(pauses.clear_lane({{"qos", "short"}})) << "another one";
  EXPECT_TRUE(pauses.clear_lane(gpu));
  EXPECT_EQ(pauses.lanes().size(), 1U);
}

TEST_F(StoresTest, WhatTheEngineCountedIsKeptWithTheTemplate) {
  const SearchCounts counts{.engine = "1.0",
                            .orientations = 1'596'000,
                            .defocus_planes = 13,
                            .pixel_sizes = 1,
                            .template_size = 384};
  const auto first = templates_.insert({.name = "x", .counts = counts});
  templates_.set_counts(template_, counts);
  for (const int64_t id : {first, template_}) {
    const SearchCounts found = templates_.find(id)->counts;
    EXPECT_EQ(found.engine, "1.0");
    EXPECT_EQ(found.orientations, 1'596'000);
    EXPECT_EQ(found.defocus_planes, 13);
    EXPECT_EQ(found.pixel_sizes, 1);
    EXPECT_EQ(found.template_size, 384);
  }
}

TEST_F(StoresTest, AMeasureTakesThePlaceOfTheOneOfTheSameQuantity) {
  MeasureStore measures(database_);
  Measure rate{.kind = MeasureKind::kRate,
               .engine = "1.0",
               .device = "NVIDIA H200",
               .height = 4096,
               .width = 5760,
               .template_size = 384,
               .runs = 1,
               .mean = 5.5};
  measures.put(rate);
  rate.runs = 2;
  rate.squares = 0.25;
  measures.put(rate);
  measures.put({.kind = MeasureKind::kLoss, .engine = "1.0", .device = "NVIDIA H200", .gpus = 4});
  const auto all = measures.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].gpus, 4);
  EXPECT_EQ(all[1].kind, MeasureKind::kRate);
  EXPECT_EQ(all[1].width, 5760);
  EXPECT_EQ(all[1].runs, 2);
  EXPECT_EQ(all[1].mean, 5.5);
  EXPECT_EQ(all[1].squares, 0.25);
}

TEST_F(StoresTest, AnItemHasOneResultAtMost) {
  const auto item = add_item("/a");
  const Attempt first = add_attempt(item, 1);
  const Attempt second = add_attempt(item, 2);
  ResultStore results(database_);
  results.insert({.item_id = item, .attempt_id = first.id, .peaks = 6, .best_z = 9.25});
  EXPECT_THROW(results.insert({.item_id = item, .attempt_id = second.id}), DatabaseError);
  EXPECT_EQ(results.find(item)->peaks, 6);
  EXPECT_EQ(results.find(item)->best_z, 9.25);
  EXPECT_FALSE(results.find(item + 1));
}

TEST_F(StoresTest, TemplatesAreFoundByVersionAndTheNewestByName) {
  templates_.insert({.name = "ribosome", .version = 2, .volume_path = "/v2"});
  EXPECT_EQ(templates_.find_newest("ribosome")->version, 2);
  EXPECT_EQ(templates_.find_version("ribosome", 1)->id, template_);
  EXPECT_FALSE(templates_.find_version("ribosome", 3));
  EXPECT_FALSE(templates_.find_newest("other"));
}

TEST_F(StoresTest, ARemovedTemplateIsFoundOnlyByItsNumber) {
  add_item("/a");
  EXPECT_EQ(templates_.unfinished_items(template_), 1);
  templates_.remove(template_, 7);
  EXPECT_EQ(templates_.find(template_)->removed, 7);
  EXPECT_FALSE(templates_.find_newest("ribosome"));
  EXPECT_FALSE(templates_.find_version("ribosome", 1));
  EXPECT_TRUE(templates_.list().empty());
  EXPECT_EQ(templates_.last_version("ribosome"), 1);
  EXPECT_EQ(templates_.last_version("other"), 0);
}

TEST_F(StoresTest, ContentIsKnownByItsUserAndTemplateAlsoUnderTheTemplatesNewName) {
  ContentStore contents(database_);
  const Content content{
      .owner_uid = 5, .template_name = "ribosome", .sha256 = "abc", .item_id = 3, .path = "/a.mrc"};
  contents.insert(content);
  EXPECT_THROW(contents.insert(content), DatabaseError);
  EXPECT_FALSE(contents.find(6, "ribosome", "abc"));
  EXPECT_FALSE(contents.find(5, "other", "abc"));
  contents.rename_template("ribosome", "other");
  EXPECT_EQ(contents.find(5, "other", "abc")->path, "/a.mrc");
  EXPECT_FALSE(contents.find(5, "ribosome", "abc"));
}

TEST_F(StoresTest, WhoDidWhatIsKeptInOrder) {
  AuditStore audit(database_);
  audit.insert({.time = 1, .who = "ann", .action = "enqueue", .item_id = 4});
  audit.insert({.time = 2, .who = "bob", .action = "cancel", .item_id = 4, .detail = "x"});
  audit.insert({.time = 3, .who = "bob", .action = "hold", .item_id = 5});
  const auto entries = audit.of_item(4);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].who, "bob");
  EXPECT_EQ(entries[1].detail, "x");
}

TEST(Words, EveryStateHasAWordThatLeadsBackToIt) {
  for (int i = 0; i <= static_cast<int>(ItemState::kQuarantined); ++i) {
    const auto state = static_cast<ItemState>(i);
    EXPECT_EQ(parse<ItemState>(to_string(state)), state);
  }
  for (int i = 0; i <= static_cast<int>(AttemptState::kNeverStarted); ++i) {
    const auto state = static_cast<AttemptState>(i);
    EXPECT_EQ(parse<AttemptState>(to_string(state)), state);
  }
  for (int i = 0; i <= static_cast<int>(Priority::kLow); ++i) {
    const auto priority = static_cast<Priority>(i);
    EXPECT_EQ(parse<Priority>(to_string(priority)), priority);
  }
  EXPECT_FALSE(parse<Priority>("URGENT"));
}

TEST_F(StoresTest, AWordOfANewerVersionIsNamedWithItsRecord) {
  const int64_t item = add_item("/a");
  add_attempt(item, 1);
  database_.connection().execute("UPDATE items SET state = 'ASLEEP'");
  database_.connection().execute("UPDATE attempts SET state = 'DREAMING'");
  const auto message_of = [](auto action) -> std::string {
    try {
      action();
    } catch (const DatabaseError& error) {
      return error.what();
    }
    return "";
  };
  const std::string newer = "', which this margayd does not know";
  EXPECT_EQ(message_of([&] { items_.find(item); }),
            "table items, id " + std::to_string(item) + ": unknown state 'ASLEEP" + newer);
  EXPECT_EQ(message_of([&] { attempts_.of_item(item); }),
            "table attempts, id 1: unknown state 'DREAMING" + newer);
}

}  // namespace
}  // namespace db
