#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/queue.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST_F(StoresTest, WaitsFollowAClockThatWasSet) {
  const auto store = [&](int64_t changed, int64_t not_before, ItemState state) {
    return items_.insert({.micrograph_path = std::to_string(not_before),
                          .template_id = template_,
                          .state = state,
                          .changed = changed,
                          .not_before = not_before});
  };
  const auto not_before = [&](int64_t id) { return items_.find(id)->not_before; };
  const auto queued = store(1000, 1060, ItemState::kQueued);
  const auto held = store(1000, 1061, ItemState::kHeld);
  const auto done = store(1000, 1062, ItemState::kDone);
  const auto plain = store(1000, 0, ItemState::kQueued);
  QueueStore queue(database_);
  queue.shift_waits(-500);
  EXPECT_EQ(not_before(queued), 560);
  EXPECT_EQ(not_before(held), 561);
  EXPECT_EQ(not_before(done), 1062);
  EXPECT_EQ(not_before(plain), 0);
  queue.limit_waits(550, 3600);
  EXPECT_EQ(not_before(queued), 560) << "nothing is wrong";
  queue.limit_waits(100, 3600);
  EXPECT_EQ(not_before(queued), 160) << "it began in the future";
  EXPECT_EQ(not_before(held), 161);
  queue.limit_waits(130, 3600);
  EXPECT_EQ(not_before(queued), 160) << "and is not prolonged";
  queue.limit_waits(130, 20);
  EXPECT_EQ(not_before(queued), 150);
}

TEST_F(StoresTest, AnItemComesBackAsItWasStored) {
  const Item item{.micrograph_path = "/data/it's a \"file\"\nü.mrc",
                  .template_id = template_,
                  .repeat = 2,
                  .priority = Priority::kUrgent,
                  .state = ItemState::kHeld,
                  .reason = "held by ann",
                  .ctf = {10200.5, 9800.25, 35, 90, "/data/ctf.txt"},
                  .micrograph_bytes = 1LL << 40,
                  .micrograph_mtime_ns = 1'700'000'000'123'456'789,
                  .owner_uid = 1000,
                  .owner = "ann",
                  .group = "cryoem",
                  .label = "grid 1",
                  .cancel_requested = true,
                  .created = 5,
                  .changed = 6,
                  .not_before = 7,
                  .finish_by = 8,
                  .exempt_through = 3};
  const auto found = items_.find(items_.insert(item));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->micrograph_path, item.micrograph_path);
  EXPECT_EQ(found->repeat, 2);
  EXPECT_EQ(found->priority, Priority::kUrgent);
  EXPECT_EQ(found->state, ItemState::kHeld);
  EXPECT_EQ(found->reason, "held by ann");
  EXPECT_EQ(found->ctf.defocus_u, 10200.5);
  EXPECT_EQ(found->ctf.source, "/data/ctf.txt");
  EXPECT_EQ(found->micrograph_bytes, 1LL << 40);
  EXPECT_EQ(found->micrograph_mtime_ns, 1'700'000'000'123'456'789);
  EXPECT_EQ(found->group, "cryoem");
  EXPECT_EQ(found->finish_by, 8);
  EXPECT_EQ(found->label, "grid 1");
  EXPECT_TRUE(found->cancel_requested);
  EXPECT_EQ(found->not_before, 7);
  EXPECT_EQ(found->exempt_through, 3);
}

// Every field; those that only an insertion sets have the same value in both.
Item full_item(int64_t template_id, int other) {
  return {.micrograph_path = "/data/a.mrc",
          .template_id = template_id,
          .repeat = 2,
          .priority = other != 0 ? Priority::kUrgent : Priority::kLow,
          .state = other != 0 ? ItemState::kHeld : ItemState::kQueued,
          .reason = "reason " + std::to_string(other),
          .ctf = {1.0 + other, 2.0 + other, 3.0 + other, 4.0 + other, std::to_string(other)},
          .micrograph_bytes = 10 + other,
          .micrograph_mtime_ns = 20 + other,
          .micrograph_id = {60 + other, 70 + other, "mount " + std::to_string(other)},
          .micrograph_sha256 = "sha " + std::to_string(other),
          .micrograph_ctime_ns = 80 + other,
          .owner_uid = 1000,
          .owner = "ann",
          .label = "grid 1",
          .cancel_requested = other != 0,
          .created = 5,
          .changed = 30 + other,
          .not_before = 40 + other,
          .exempt_through = 50 + other,
          .options = {{"qos", std::to_string(other)}}};
}
auto fields(const Item& item) {
  return std::tuple(
      item.micrograph_path, item.template_id, item.repeat, item.priority, item.state, item.reason,
      std::tuple(item.ctf.defocus_u, item.ctf.defocus_v, item.ctf.astigmatism_angle,
                 item.ctf.phase_shift, item.ctf.source),
      item.micrograph_bytes, item.micrograph_mtime_ns,
      std::tuple(item.micrograph_id.inode, item.micrograph_id.device, item.micrograph_id.mount,
                 item.micrograph_sha256, item.micrograph_ctime_ns),
      item.owner_uid, item.owner, item.label, item.cancel_requested, item.created, item.changed,
      item.not_before, item.exempt_through, item.options);
}

TEST_F(StoresTest, AnUpdateStoresEachFieldOfAnItemThatMayChange) {
  const Item before = full_item(template_, 0);
  const int64_t id = items_.insert(before);
  EXPECT_EQ(fields(*items_.find(id)), fields(before));
  Item after = full_item(template_, 1);
  after.id = id;
  items_.update(after);
  EXPECT_EQ(fields(*items_.find(id)), fields(after));
}

TEST_F(StoresTest, WaitingItemsWhoseMicrographsAreToBeReadAreFoundByClassAndOwner) {
  int repeat = 0;
  const auto insert = [&](Priority priority, int64_t owner, ItemState state, int64_t ctime) {
    return items_.insert({.template_id = template_,
                          .repeat = ++repeat,
                          .priority = priority,
                          .state = state,
                          .micrograph_ctime_ns = ctime,
                          .owner_uid = owner,
                          .not_before = owner});
  };
  const int64_t first = insert(Priority::kLow, 1, ItemState::kQueued, 0);
  const int64_t held = insert(Priority::kLow, 1, ItemState::kHeld, 0);
  insert(Priority::kLow, 1, ItemState::kQueued, 7);
  insert(Priority::kLow, 1, ItemState::kActive, 0);
  insert(Priority::kHigh, 2, ItemState::kQueued, 0);
  insert(Priority::kHigh, 9, ItemState::kQueued, 0);
  const QueueStore queue(database_);
  std::vector<std::pair<Priority, int64_t>> groups;
  for (const UnreadGroup& group : queue.unread(8)) {
    groups.emplace_back(group.priority, group.owner_uid);
  }
  EXPECT_THAT(groups, UnorderedElementsAre(Pair(Priority::kHigh, 2), Pair(Priority::kLow, 1)))
      << "the third one's item waits for a later time";
  const UnreadGroup low{Priority::kLow, 1};
  EXPECT_THAT(queue.unread_of(low, 8, 9), ElementsAre(first, held));
  EXPECT_THAT(queue.unread_of(low, 8, 1), ElementsAre(first));
}

TEST_F(StoresTest, AnUpdateLeavesTheRestOfAnItemAlone) {
  const Item before = full_item(template_, 0);
  Item other = before;
  other.id = items_.insert(before);
  other.micrograph_path = "/data/b.mrc";
  other.template_id = templates_.insert({.name = "proteasome"});
  other.repeat = 9;
  other.owner_uid = 9;
  other.owner = other.label = "other";
  other.created = 9;
  items_.update(other);
  EXPECT_EQ(fields(*items_.find(other.id)), fields(before));
}

TEST_F(StoresTest, ItemsAreListedByWhatIsAskedOfThem) {
  const auto a = add_item("/a", ItemState::kQueued);
  const auto b = add_item("/b", ItemState::kHeld, Priority::kHigh);
  const auto c = add_item("/c", ItemState::kDone);
  const auto ids = [&](const ItemQuery& query) {
    std::vector<int64_t> found;
    for (const Item& item : items_.list(query)) found.push_back(item.id);
    return found;
  };
  EXPECT_THAT(ids({}), ElementsAre(a, b, c));
  EXPECT_THAT(ids({.states = {ItemState::kQueued, ItemState::kDone}}), ElementsAre(a, c));
  EXPECT_THAT(ids({.priorities = {Priority::kHigh}}), ElementsAre(b));
  EXPECT_THAT(ids({.after_id = a, .limit = 1}), ElementsAre(b));
  EXPECT_THAT(ids({.ids = {c, a}}), ElementsAre(a, c));
  EXPECT_EQ(items_.counts()[ItemState::kHeld], 1);
}

TEST_F(StoresTest, ItemsOfSeveralStatesComeInPagesByTheirNumbers) {
  std::vector<int64_t> wanted;
  for (int i = 0; i < 9; ++i) {
    const std::array states = {ItemState::kDone, ItemState::kQueued, ItemState::kActive};
    const auto id = add_item("/" + std::to_string(i), states.at(static_cast<size_t>(i) % 3));
    if (i % 3 != 0) wanted.push_back(id);
  }
  std::vector<int64_t> found;
  const std::vector<ItemState> states = {ItemState::kActive, ItemState::kQueued,
                                         ItemState::kActive};
  for (size_t page = 2; page == 2;) {
    const auto items =
        items_.list({.states = states, .after_id = found.empty() ? 0 : found.back(), .limit = 2});
    page = items.size();
    for (const Item& item : items) found.push_back(item.id);
  }
  EXPECT_EQ(found, wanted);
}

TEST_F(StoresTest, TheSameMicrographAndTemplateIsOneItemUnlessRepeated) {
  add_item("/a");
  EXPECT_THROW(add_item("/a"), DatabaseError);
  items_.insert({.micrograph_path = "/a", .template_id = template_, .repeat = 1});
  EXPECT_EQ(items_.find_newest("/a", template_)->repeat, 1);
}

TEST_F(StoresTest, TheQueueHasWhatHasNotEndedAndNoMoreOfIt) {
  const int64_t waits = add_item("/a", ItemState::kHeld, Priority::kUrgent);
  const int64_t runs = add_item("/b", ItemState::kActive);
  const int64_t stops = add_item("/c", ItemState::kActive);
  add_item("/d", ItemState::kDone);
  Item stopping = items_.find(stops).value();
  stopping.cancel_requested = true;
  stopping.not_before = 7;
  stopping.finish_by = 8;
  items_.update(stopping);
  add_attempt(runs, 1);
  Attempt ended = add_attempt(stops, 1);
  ended.state = AttemptState::kLost;
  attempts_.update(ended);
  add_attempt(stops, 2);

  const QueueStore queue(database_);
  std::vector<QueuedItem> items;
  queue.each_item([&](const QueuedItem& item) { items.push_back(item); });
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].id, waits);
  EXPECT_EQ(items[0].state, ItemState::kHeld);
  EXPECT_EQ(items[0].priority, Priority::kUrgent);
  EXPECT_EQ(items[2].not_before, 7);
  EXPECT_EQ(items[2].finish_by, 8);
  EXPECT_EQ(items[0].group, "");
  EXPECT_TRUE(items[2].cancel_requested);
  EXPECT_FALSE(items[1].cancel_requested);
  EXPECT_EQ(queue.count_attempts(), 2);
  ASSERT_EQ(queue.attempts().size(), 2u);
  EXPECT_EQ(queue.attempts()[0].item_id, runs);
  EXPECT_EQ(queue.attempts()[0].state, AttemptState::kSubmitting);
  EXPECT_THAT(queue.to_cancel(), ElementsAre(stops));
}

}  // namespace
}  // namespace db
