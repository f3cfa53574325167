// The queue in memory against the queue in the database.
#include "scheduler/commands/known_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "db/items.h"
#include "db/pauses.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using db::ItemState;
using db::Priority;

class KnownQueueTest : public testing::Test {
 protected:
  KnownQueueTest() {
    db::Connection& connection = database_.connection();
    connection.execute(
        "INSERT INTO templates (name, version, volume_path, volume_sha256, volume_bytes, "
        "volume_mtime_ns, search_yaml, search_sha256, owner_uid, owner, created) VALUES "
        "('t', 1, '', '', 0, 0, '', '', 0, '', 0)");
  }

  int64_t add(ItemState state = ItemState::kQueued) {
    return items_.insert({.micrograph_path = "/m" + std::to_string(++made_),
                          .template_id = 1,
                          .state = state,
                          .owner_uid = 1000});
  }
  void set(int64_t id, ItemState state) { items_.set_state(id, state, "", 0); }

  static std::vector<std::tuple<int64_t, Priority, ItemState, int64_t, std::string>> facts(
      const QueueSnapshot& snapshot) {
    std::vector<std::tuple<int64_t, Priority, ItemState, int64_t, std::string>> all;
    for (const PlanItem& item : snapshot.items) {
      all.emplace_back(item.id, item.priority, item.state, item.not_before, asks_of(item).lane);
    }
    return all;
  }
  tests::ScratchFolder folder_;
  db::Database database_{folder_.file("margay.db")};
  db::ItemStore items_{database_};
  ClusterLimits limits_{.slots = 4, .queues = true};
  int made_ = 0;
};

TEST_F(KnownQueueTest, WhatIsInMemoryIsWhatIsInTheDatabaseAfterAnyChanges) {
  KnownQueue queue(database_);
  std::mt19937 random(1);
  std::vector<int64_t> ids;
  for (int step = 0; step < 200; ++step) {
    for (auto change = random() % 6; change > 0; --change) {
      const auto any = [&] { return ids[random() % ids.size()]; };
      if (ids.empty() || random() % 3 == 0) {
        ids.push_back(add());
        continue;
      }
      db::Item item = items_.find(any()).value();
      item.state = static_cast<ItemState>(random() % 7);
      item.priority = static_cast<Priority>(random() % 5);
      item.not_before = random() % 100;
      item.options.clear();
      if (random() % 2 == 0) item.options["qos"] = "q" + std::to_string(random() % 3);
      db::Transaction transaction(database_);
      items_.update(item);
      if (random() % 4 != 0) transaction.commit();
    }
    const auto known = facts(queue.read(0, limits_));
    KnownQueue other(database_);
    ASSERT_EQ(known, facts(other.read(0, limits_))) << "step " << step;
  }
}

TEST_F(KnownQueueTest, OnlyWhatHasChangedIsReadAgain) {
  const auto first = add();
  add();
  KnownQueue queue(database_);
  QueueSnapshot& snapshot = queue.read(0, limits_);
  ASSERT_EQ(snapshot.items.size(), 2U);
  snapshot.items[1].owner = 7;  // a mark that a second reading would wipe out
  set(first, ItemState::kHeld);
  const auto third = add();
  queue.read(1, limits_);
  ASSERT_EQ(snapshot.items.size(), 3U);
  EXPECT_EQ(snapshot.items[0].state, ItemState::kHeld);
  EXPECT_EQ(snapshot.items[1].owner, 7);
  EXPECT_EQ(snapshot.items[2].id, third);
  set(first, ItemState::kDone);
  EXPECT_EQ(queue.read(2, limits_).items.size(), 2U);
}

TEST_F(KnownQueueTest, ARowThatAnAdministratorCorrectsByHandIsSeen) {
  const auto id = add();
  KnownQueue queue(database_);
  queue.read(0, limits_);
  db::Connection edit(database_.path());
  edit.execute("UPDATE items SET priority = 'urgent' WHERE id = " + std::to_string(id));
  EXPECT_EQ(queue.read(1, limits_).items.at(0).priority, Priority::kUrgent);
}

TEST_F(KnownQueueTest, WaitsThatAreMovedTogetherAreSeen) {
  db::Item item = items_.find(add()).value();
  item.not_before = 100;
  items_.update(item);
  KnownQueue queue(database_);
  queue.read(0, limits_);
  db::QueueStore(database_).shift_waits(50);
  EXPECT_EQ(queue.read(1, limits_).items.at(0).not_before, 150);
}

TEST_F(KnownQueueTest, NothingOfTheLastTickIsLeftInTheNext) {
  add();
  KnownQueue queue(database_);
  QueueSnapshot& snapshot = queue.read(0, limits_);
  snapshot.pause_reason = "the disk is full";
  snapshot.held_lanes = {{"qos=short", "held"}};
  snapshot.pending[Priority::kLow] = 9;
  snapshot.busy_slots = 9;
  queue.read(1, limits_);
  EXPECT_EQ(snapshot.now, 1);
  EXPECT_EQ(snapshot.pause_reason, "");
  EXPECT_TRUE(snapshot.held_lanes.empty());
  EXPECT_TRUE(snapshot.pending.empty());
  EXPECT_EQ(snapshot.busy_slots, 0);
}

TEST_F(KnownQueueTest, ItemsThatAskForNothingShareNothingAndOthersShareWhatTheyAskFor) {
  const std::vector<int64_t> ids = {add(), add(), add()};
  for (const size_t i : {1, 2}) {
    db::Item item = items_.find(ids[i]).value();
    item.options = {{"qos", "short"}};
    items_.update(item);
  }
  KnownQueue queue(database_);
  const QueueSnapshot& snapshot = queue.read(0, limits_);
  EXPECT_EQ(snapshot.items[0].asks, nullptr);
  EXPECT_EQ(snapshot.items[1].asks, snapshot.items[2].asks);
  EXPECT_EQ(snapshot.items[1].asks->lane, "qos=short");
  // With 100,000 items each of these bytes is 100 kB.
  EXPECT_LE(sizeof(PlanItem), 104U);
  EXPECT_LE(sizeof(Decision), 32U);
}

}  // namespace
}  // namespace scheduler
