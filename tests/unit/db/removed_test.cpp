#include "db/removed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/history.h"
#include "db/host_failures.h"
#include "db/results.h"
#include "db/schema.h"
#include "db/urgent_tokens.h"
#include "db/used_gpus.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

class RemovedItemsTest : public StoresTest {
 protected:
  // Done by one attempt with four GPUs for a hundred seconds, of a group with a token.
  int64_t done_item(const std::string& path = "/a") {
    const int64_t id = items_.insert({.micrograph_path = path,
                                      .template_id = template_,
                                      .repeat = 2,
                                      .state = ItemState::kDone,
                                      .micrograph_bytes = 5,
                                      .micrograph_sha256 = "abc",
                                      .owner_uid = 7,
                                      .owner = "ann",
                                      .group = "cryoem",
                                      .created = 50});
    const int64_t attempt = attempts_.insert({.item_id = id,
                                              .token = "t" + std::to_string(id),
                                              .state = AttemptState::kDone,
                                              .directory = "/jobs/" + std::to_string(id) + "/a1",
                                              .gpus = 4,
                                              .started = 100,
                                              .ended = 200});
    ResultStore(database_).insert({.item_id = id, .attempt_id = attempt});
    HostFailureStore(database_).insert(
        {.host = "n1", .item_id = id, .attempt_id = attempt, .cause = "hardware", .time = 150});
    UrgentTokenStore(database_).insert({.group = "cryoem", .time = 150, .item_id = id});
    return id;
  }
  void remove(int64_t id, const std::string& results = "") {
    Transaction transaction(database_);
    removed_.remove(id, 300, "bob", results);
    transaction.commit();
  }

  RemovedItemStore removed_{database_};
};

TEST_F(RemovedItemsTest, LeaveTheRecordsAndAreKnownByTheirFile) {
  const auto id = done_item();
  const auto other = done_item("/b");
  remove(id, "/jobs/1/a1");
  EXPECT_FALSE(items_.find(id));
  EXPECT_TRUE(attempts_.of_item(id).empty());
  EXPECT_FALSE(ResultStore(database_).find(id));
  EXPECT_TRUE(items_.find(other));
  const auto found = removed_.find_newest("/a", template_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, id);
  EXPECT_EQ(found->repeat, 2);
  EXPECT_EQ(found->owner_uid, 7);
  EXPECT_EQ(found->micrograph_sha256, "abc");
  EXPECT_EQ(found->removed, 300);
  EXPECT_EQ(found->removed_by, "bob");
  EXPECT_EQ(found->results, "/jobs/1/a1");
  EXPECT_FALSE(removed_.find_newest("/b", template_));
  EXPECT_FALSE(removed_.find(other));
}

TEST_F(RemovedItemsTest, KeepWhatTheyUsedAndWhenTheyArrived) {
  const auto id = done_item();
  const auto used = UsedGpusStore(database_).ended_after(0);
  ASSERT_EQ(used.size(), 1U);
  const auto newest = UsedGpusStore(database_).newest_attempt();
  remove(id);
  const auto after = UsedGpusStore(database_).ended_after(0);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].group, "cryoem");
  EXPECT_EQ(after[0].seconds, 400);
  EXPECT_EQ(UsedGpusStore(database_).newest_attempt(), newest) << "no attempt counts twice";
  EXPECT_EQ(UsedGpusStore(database_).of(newest).size(), 1U);
  done_item("/b");
  EXPECT_EQ(UsedGpusStore(database_).after(newest).size(), 1U);
  const auto arrived = HistoryStore(database_).arrived(0, 0, 10);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].id, id);
  EXPECT_EQ(arrived[0].state, ItemState::kDone);
  EXPECT_EQ(HistoryStore(database_).arrived(0, id, 10).size(), 1U);
  EXPECT_EQ(HistoryStore(database_).arrived(0, 0, 1).at(0).id, id);
  ASSERT_EQ(HistoryStore(database_).jobs(id, id).size(), 1U);
  EXPECT_EQ(HistoryStore(database_).jobs(id, id)[0].ended, 200);
}

TEST_F(RemovedItemsTest, GiveNoTokenBackAndClearNoHost) {
  const auto id = done_item();
  remove(id);
  EXPECT_EQ(UrgentTokenStore(database_).taken_after("cryoem", 0).size(), 1U);
  EXPECT_EQ(HostFailureStore(database_).since(0).size(), 1U);
}

TEST_F(RemovedItemsTest, AreForgottenByTheClusterOnceAllTheirAttemptsAre) {
  const auto id = done_item();
  EXPECT_FALSE(removed_.is_forgotten(id));
  attempts_.mark_forgotten(attempts_.newest_of_item(id)->id);
  EXPECT_TRUE(removed_.is_forgotten(id));
  EXPECT_TRUE(removed_.is_forgotten(add_item("/without"))) << "without an attempt";
}

TEST_F(RemovedItemsTest, FoldersWaitForTheirRemovalInTheirOrder) {
  removed_.add_removal({.item_id = 1, .folder = "/jobs/1"});
  removed_.add_removal({.item_id = 2, .folder = "/jobs/2", .results = "/jobs/2/a1"});
  const auto all = removed_.removals(0, 10);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].results, "/jobs/2/a1");
  EXPECT_EQ(removed_.removals(all[0].id, 10).size(), 1U);
  removed_.finish_removal(all[0].id);
  ASSERT_EQ(removed_.removals(0, 10).size(), 1U);
  EXPECT_EQ(removed_.removals(0, 10)[0].item_id, 2);
}

TEST_F(RemovedItemsTest, HostFailuresAndTokensAreKeptByTheUpgrade) {
  const auto id = done_item();
  {
    const std::scoped_lock lock(database_.mutex());
    for (const char* table : {"removed_attempts", "removed_items", "removals"}) {
      database_.connection().execute(std::string("DROP TABLE ") + table);
    }
    database_.connection().execute("DROP INDEX audit_by_time");
    database_.connection().execute("PRAGMA user_version = 14");
    upgrade_schema(database_.connection());
  }
  const auto failures = HostFailureStore(database_).since(0);
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].item_id, id);
  EXPECT_EQ(failures[0].host, "n1");
  EXPECT_EQ(UrgentTokenStore(database_).newest_of_item(id), 150);
}

}  // namespace
}  // namespace db
