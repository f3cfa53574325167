#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "db/attempts.h"
#include "db/audit.h"
#include "db/items.h"
#include "db/measures.h"
#include "db/pauses.h"
#include "db/queue.h"
#include "db/results.h"
#include "db/schema.h"
#include "db/sqlite.h"
#include "db/templates.h"
#include "tests/scratch_folder.h"

namespace db {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class StoresTest : public testing::Test {
 protected:
  int64_t add_item(const std::string& path, ItemState state = ItemState::kQueued,
                   Priority priority = Priority::kNormal) {
    return items_.insert(
        {.micrograph_path = path, .template_id = template_, .priority = priority, .state = state});
  }
  Attempt add_attempt(int64_t item, int number) {
    Attempt attempt{.item_id = item,
                    .number = number,
                    .token = "t-" + std::to_string(item) + "-" + std::to_string(number)};
    attempt.id = attempts_.insert(attempt);
    return attempt;
  }

  // As before the columns that it adds.
  static void undo_tenth_step(Connection& connection) {
    for (const std::string column :
         {"counted_by", "orientations", "defocus_planes", "pixel_sizes", "template_size"}) {
      connection.execute(("ALTER TABLE templates DROP COLUMN " + column).c_str());
    }
    for (const std::string column :
         {"micrograph_width", "micrograph_height", "micrograph_pixel_size"}) {
      connection.execute(("ALTER TABLE items DROP COLUMN " + column).c_str());
    }
    connection.execute("DROP TABLE measures");
  }

  tests::ScratchFolder folder_;
  Database database_{folder_.file("margay.db")};
  TemplateStore templates_{database_};
  ItemStore items_{database_};
  AttemptStore attempts_{database_};
  const int64_t template_ = templates_.insert({.name = "ribosome"});
};

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
                  .label = "grid 1",
                  .cancel_requested = true,
                  .created = 5,
                  .changed = 6,
                  .not_before = 7,
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

Attempt full_attempt(int64_t item, int other) {
  const std::string text = std::to_string(other);
  return {.item_id = item,
          .number = 3,
          .token = "t",
          .state = other != 0 ? AttemptState::kRunning : AttemptState::kPending,
          .cause = "cause " + text,
          .message = "message " + text,
          .shape = "1 device",
          .explanation = "alone",
          .script = "#!/bin/sh",
          .script_sha256 = "s",
          .config_sha256 = "c",
          .directory = "/a",
          .resume_from = "/older",
          .job_id = "1" + text,
          .host = "n" + text,
          .exit_code = 4 + other,
          .cluster_words = "WORDS " + text,
          .cluster_reason = "Reason " + text,
          .restarts = 5 + other,
          .gpus = 2,
          .nodes = 3,
          .gpus_per_node = 4,
          .release_due = other != 0,
          .stop_asked = 60 + other,
          .created = 7,
          .submitted = 70 + other,
          .started = 80 + other,
          .ended = 90 + other};
}
auto fields(const Attempt& attempt) {
  return std::tuple(std::tuple(attempt.item_id, attempt.number, attempt.token, attempt.shape,
                               attempt.explanation, attempt.script_sha256, attempt.config_sha256,
                               attempt.directory, attempt.resume_from, attempt.gpus, attempt.nodes,
                               attempt.gpus_per_node, attempt.created),
                    attempt.state, attempt.cause, attempt.message, attempt.job_id, attempt.host,
                    attempt.exit_code, attempt.cluster_words, attempt.cluster_reason,
                    attempt.restarts, attempt.release_due, attempt.stop_asked, attempt.submitted,
                    attempt.started, attempt.ended);
}

TEST_F(StoresTest, AnUpdateStoresEachFieldOfAnAttemptThatMayChange) {
  const int64_t item = add_item("/a");
  const Attempt before = full_attempt(item, 0);
  const int64_t id = attempts_.insert(before);
  EXPECT_EQ(fields(*attempts_.find(id)), fields(before));
  Attempt after = full_attempt(item, 1);
  after.id = id;
  ASSERT_TRUE(attempts_.update(after));
  EXPECT_EQ(fields(*attempts_.find(id)), fields(after));
}

TEST_F(StoresTest, AnUpdateLeavesTheRestOfAnAttemptAlone) {
  const Attempt before = full_attempt(add_item("/a"), 0);
  Attempt other = before;
  other.id = attempts_.insert(before);
  other.item_id = add_item("/b");
  other.number = other.gpus = other.nodes = other.gpus_per_node = 9;
  other.token = other.shape = other.explanation = other.script = other.script_sha256 = "other";
  other.config_sha256 = other.directory = other.resume_from = "other";
  other.created = 9;
  ASSERT_TRUE(attempts_.update(other));
  EXPECT_EQ(fields(*attempts_.find(other.id)), fields(before));
  EXPECT_EQ(attempts_.script(other.id), "#!/bin/sh");
}

TEST_F(StoresTest, AttemptsOfAnOlderDatabaseGetTheWidthThatTheirTextSays) {
  const auto id = attempts_.insert(full_attempt(add_item("/a"), 0));
  const struct {
    const char* shape;
    int gpus, nodes, gpus_per_node;
  } kRows[] = {{"1 device", 0, 1, 0},
               {"CPU", 0, 1, 0},
               {"1 GPU", 1, 1, 1},
               {"1 node (4 GPUs)", 4, 1, 4},
               {"4 nodes (16 GPUs)", 16, 4, 4}};
  for (const auto& row : kRows) {
    {
      const std::scoped_lock lock(database_.mutex());
      Connection& connection = database_.connection();
      undo_tenth_step(connection);
      connection.execute("ALTER TABLE attempts DROP COLUMN nodes");
      connection.execute("ALTER TABLE attempts DROP COLUMN gpus_per_node");
      Statement(connection, "UPDATE attempts SET shape = ?, gpus = ?")
          .bind(std::string(row.shape))
          .bind(static_cast<int64_t>(row.gpus))
          .run();
      connection.execute("PRAGMA user_version = 8");
      upgrade_schema(connection);
    }
    EXPECT_EQ(attempts_.find(id)->nodes, row.nodes) << row.shape;
    EXPECT_EQ(attempts_.find(id)->gpus_per_node, row.gpus_per_node) << row.shape;
  }
}

TEST_F(StoresTest, OfTemplatesAndItemsBeforeTheTenthStepNothingIsCounted) {
  const auto item = add_item("/a");
  templates_.set_counts(template_, {.engine = "1.0", .orientations = 7});
  {
    const std::scoped_lock lock(database_.mutex());
    undo_tenth_step(database_.connection());
    database_.connection().execute("PRAGMA user_version = 9");
    upgrade_schema(database_.connection());
  }
  EXPECT_EQ(templates_.find(template_)->counts.engine, "");
  EXPECT_EQ(items_.find(item)->micrograph_size.width, 0);
  EXPECT_TRUE(MeasureStore(database_).all().empty());
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

TEST_F(StoresTest, AnEndedAttemptNeverChangesAgain) {
  Attempt attempt = add_attempt(add_item("/a"), 1);
  attempt.state = AttemptState::kLost;
  attempt.cause = "vanished";
  EXPECT_TRUE(attempts_.update(attempt));
  attempt.state = AttemptState::kDone;
  EXPECT_FALSE(attempts_.update(attempt));
  EXPECT_EQ(attempts_.find(attempt.id)->state, AttemptState::kLost);
}

TEST_F(StoresTest, OpenAttemptsAreThoseThatHaveNotEnded) {
  const auto item = add_item("/a");
  Attempt first = add_attempt(item, 1);
  first.state = AttemptState::kFailed;
  first.exit_code = 70;
  attempts_.update(first);
  const Attempt second = add_attempt(item, 2);
  ASSERT_EQ(attempts_.open().size(), 1u);
  EXPECT_EQ(attempts_.open()[0].token, second.token);
  EXPECT_EQ(attempts_.newest_of_item(item)->number, 2);
  EXPECT_EQ(attempts_.of_item(item)[0].exit_code, 70);
  EXPECT_FALSE(attempts_.of_item(item)[1].exit_code);
  ASSERT_EQ(attempts_.ended_not_forgotten().size(), 1u);
  attempts_.mark_forgotten(first.id);
  EXPECT_TRUE(attempts_.ended_not_forgotten().empty());
}

TEST_F(StoresTest, ATokenIsUniqueForEver) {
  const auto item = add_item("/a");
  add_attempt(item, 1);
  EXPECT_THROW(attempts_.insert({.item_id = item, .number = 2, .token = "t-1-1"}), DatabaseError);
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

TEST_F(StoresTest, TheQueueHasWhatHasNotEndedAndNoMoreOfIt) {
  const int64_t waits = add_item("/a", ItemState::kHeld, Priority::kUrgent);
  const int64_t runs = add_item("/b", ItemState::kActive);
  const int64_t stops = add_item("/c", ItemState::kActive);
  add_item("/d", ItemState::kDone);
  Item stopping = items_.find(stops).value();
  stopping.cancel_requested = true;
  stopping.not_before = 7;
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
