// What the site's retention removes in the background, and `margay admin gc` at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/audit.h"
#include "db/removed.h"
#include "scheduler/files/removed_folder.h"
#include "tests/unit/scheduler/daemon/housekeeper_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using db::Priority;
using std::chrono::hours;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RetentionTest : public HousekeeperTest {
 protected:
  void retain(const Retention& retention) {
    config_.retention = retention;
    keep_house();
  }
  bool is_listed(int64_t id) { return db::ItemStore(*database_).find(id).has_value(); }
  // A folder that nothing in the records names, as old as it needs to be.
  void leave_stray(const std::string& name, const std::string& file = "job.log") {
    const fs::path folder = config_.jobs() + "/" + name;
    fs::create_directories(folder);
    std::ofstream(folder / file) << "12345";
    grow_old(folder / file);
    grow_old(folder);
    if (folder.has_parent_path() && folder.parent_path() != fs::path(config_.jobs())) {
      grow_old(folder.parent_path());
    }
  }
  void grow_old(const fs::path& path) const {
    const auto age = std::chrono::seconds(std::time(nullptr) - clock_.now()) + kDay + hours(1);
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }
  GcPart freed(const GcReport& report, GcKind kind) {
    const auto found = report.freed.find(kind);
    return found == report.freed.end() ? GcPart() : found->second;
  }

  static constexpr hours kDay{24};
};

TEST_F(RetentionTest, NothingIsRemovedWithoutIt) {
  const auto id = done("a.mrc");
  clock_.pass(hours(24 * 10'000));
  keep();
  EXPECT_TRUE(is_listed(id));
  EXPECT_TRUE(has_folder(id));
}

TEST_F(RetentionTest, ItemsThatEndedLongAgoAreRemovedAndLiveOnesStay) {
  retain({.age = kDay * 30});
  const auto old = done("a.mrc");
  const auto waits = commands_->enqueue(user_, request("w.mrc")).id;
  commands_->hold(user_, waits);
  keep();
  EXPECT_TRUE(is_listed(old));
  clock_.pass(kDay * 20);
  const auto young = failed("b.mrc");
  clock_.pass(kDay * 11);
  const std::string results = attempt(old).directory;
  keep();
  EXPECT_FALSE(is_listed(old));
  EXPECT_TRUE(is_listed(young));
  EXPECT_TRUE(is_listed(waits));
  EXPECT_TRUE(fs::exists(results + "/mip.mrc")) << "results are kept unless the site says so";
  EXPECT_FALSE(fs::exists(results + "/job.sh"));
  EXPECT_TRUE(has_folder(young));
  EXPECT_THAT(db::AuditStore(*database_).of_item(old).back().detail,
              AllOf(HasSubstr("was DONE"), HasSubstr("older than 'retention' allows")));
  EXPECT_THAT(refusal<NotFound>([&] { commands_->show(old); }),
              HasSubstr("was removed by margayd"));
}

TEST_F(RetentionTest, AnItemThatIsTriedAgainIsYoungAgain) {
  retain({.age = kDay});
  const auto id = failed("a.mrc");
  clock_.pass(kDay * 2);
  retry(id);
  commands_->cancel(user_, id);
  keep();
  EXPECT_TRUE(is_listed(id));
}

TEST_F(RetentionTest, ResultsAreRemovedWhereTheSiteSaysSoThoseOfRemovedItemsToo) {
  retain({.age = kDay * 30, .results = true});
  const auto id = done("a.mrc");
  const auto removed = done("b.mrc");
  EXPECT_EQ(remove(removed), "");
  keep();
  EXPECT_TRUE(has_folder(removed));
  clock_.pass(kDay * 31);
  keep();
  EXPECT_FALSE(has_folder(id));
  EXPECT_FALSE(has_folder(removed));
}

TEST_F(RetentionTest, TheFirstThatEndedMakeRoomForTheOthers) {
  const auto first = done("a.mrc");
  const auto second = done("b.mrc");
  const auto third = done("c.mrc");
  retain({.total = bytes_in(folder_of(second)) + bytes_in(folder_of(third)), .results = true});
  keep();
  EXPECT_FALSE(is_listed(first));
  EXPECT_FALSE(has_folder(first));
  EXPECT_TRUE(is_listed(second));
  EXPECT_TRUE(is_listed(third));
  EXPECT_THAT(db::AuditStore(*database_).of_item(first).back().detail,
              HasSubstr("beyond the 'total'"));
}

TEST_F(RetentionTest, OldLinesOfTheHistoryAreRemovedButForLiveItems) {
  retain({.history = kDay * 100});
  const auto ended = failed("a.mrc");
  const auto waits = commands_->enqueue(user_, request("w.mrc")).id;
  clock_.pass(kDay * 101);
  const auto young = commands_->enqueue(user_, request("y.mrc")).id;
  keep();
  const db::AuditStore history(*database_);
  EXPECT_THAT(history.of_item(ended), IsEmpty());
  EXPECT_EQ(history.of_item(waits).size(), 1U);
  EXPECT_EQ(history.of_item(young).size(), 1U);
  EXPECT_TRUE(is_listed(ended));
}

TEST_F(RetentionTest, ACrashRemovesAnItemWholeOrNotAtAll) {
  retain({.age = kDay, .results = true});
  const auto id = done("a.mrc");
  clock_.pass(kDay * 2);
  for (const char* point :
       {"before-retention-commit", "after-retention-commit", "moved-for-removal"}) {
    keeper_crash_ = point;
    EXPECT_THROW(keep(), Crash) << point;
    restart();
    keep_house();
    const bool pending = !db::RemovedItemStore(*database_).removals(0, 1).empty();
    EXPECT_NE(is_listed(id), pending) << point;
    EXPECT_TRUE(pending || fs::exists(folder_of(id) + "/a1/mip.mrc")) << point;
  }
  keep();
  EXPECT_FALSE(is_listed(id));
  EXPECT_FALSE(has_folder(id));
  EXPECT_FALSE(fs::exists(config_.jobs() + "/.removed"));
}

TEST_F(RetentionTest, GcDoesAtOnceWhatADryRunSays) {
  const auto old = done("a.mrc");
  const auto removed = failed("r.mrc");
  clock_.pass(kDay * 2);
  const auto young = done("b.mrc");
  retain({.age = kDay, .results = true, .history = kDay});
  EXPECT_EQ(remove(removed), "");
  const int64_t bytes = bytes_in(folder_of(old));
  const int64_t left = bytes_in(folder_of(removed));
  const GcReport dry = keeper_->collect(true);
  EXPECT_TRUE(is_listed(old));
  EXPECT_TRUE(has_folder(old));
  EXPECT_TRUE(has_folder(removed));
  const GcReport done = keeper_->collect(false);
  for (const GcReport& report : {dry, done}) {
    EXPECT_EQ(freed(report, GcKind::kAge).count, 1);
    EXPECT_EQ(freed(report, GcKind::kAge).bytes, bytes);
    EXPECT_EQ(freed(report, GcKind::kRemoved).count, 1);
    EXPECT_EQ(freed(report, GcKind::kRemoved).bytes, left);
    EXPECT_GE(freed(report, GcKind::kHistory).count, 2);
    EXPECT_EQ(freed(report, GcKind::kStray).count, 0);
    EXPECT_THAT(report.left, IsEmpty());
  }
  EXPECT_FALSE(is_listed(old));
  EXPECT_FALSE(has_folder(old));
  EXPECT_FALSE(has_folder(removed));
  EXPECT_TRUE(is_listed(young));
  const GcReport again = keeper_->collect(false);
  for (const GcKind kind : {GcKind::kAge, GcKind::kTotal, GcKind::kRemoved, GcKind::kStray}) {
    EXPECT_EQ(freed(again, kind).count, 0);
  }
}

TEST_F(RetentionTest, GcRemovesFoldersThatNoRecordNamesOnceTheyAreOld) {
  const auto kept = done("k.mrc");
  const auto with_results = done("r.mrc");
  const auto gone = commands_->enqueue(user_, request("gone.mrc")).id;
  commands_->cancel(user_, gone);
  EXPECT_EQ(remove(gone), "");
  EXPECT_EQ(remove(with_results), "");
  keep();
  leave_stray(std::to_string(gone) + "/a1");
  leave_stray(std::to_string(kept) + "/a7");
  fs::create_directories(config_.jobs() + "/.doctor/probe");
  fs::create_directories(config_.jobs() + "/notes");
  fs::create_directories(config_.jobs() + "/.removed/77/a1");
  const auto live = enqueue("live.mrc").id;
  ticks(1);
  leave_stray(std::to_string(live) + "/a9");
  const GcReport report = keeper_->collect(false);
  EXPECT_EQ(freed(report, GcKind::kStray).count, 2);
  EXPECT_EQ(freed(report, GcKind::kStray).bytes, 10);
  EXPECT_FALSE(has_folder(gone));
  EXPECT_FALSE(fs::exists(folder_of(kept) + "/a7"));
  EXPECT_TRUE(fs::exists(folder_of(kept) + "/a1/mip.mrc"));
  EXPECT_TRUE(fs::exists(folder_of(with_results) + "/a1/mip.mrc")) << "a record names it";
  EXPECT_TRUE(fs::exists(folder_of(live) + "/a9")) << "its item has not ended";
  EXPECT_TRUE(fs::exists(config_.jobs() + "/.doctor/probe"));
  EXPECT_TRUE(fs::exists(config_.jobs() + "/notes"));
  EXPECT_FALSE(fs::exists(config_.jobs() + "/.removed"));
}

// As after a restore: the numbers continue above theirs, and only their folders are left of them.
TEST_F(RetentionTest, GcLeavesOldFoldersOfItemsThatTheDatabaseHasNeverKnown) {
  const auto unknown = done("u.mrc");
  const auto known = done("k.mrc");
  db::RemovedItemStore(*database_).remove(unknown, clock_.now(), "nobody", "");
  database_->connection().execute("DELETE FROM removed_attempts; DELETE FROM removed_items");
  clock_.pass(kDay * 20);
  const GcReport report = keeper_->collect(false);
  EXPECT_EQ(freed(report, GcKind::kStray).count, 0);
  EXPECT_TRUE(fs::exists(folder_of(unknown) + "/a1/mip.mrc"));
  EXPECT_TRUE(has_folder(known));
  EXPECT_THAT(report.left, ElementsAre(HasSubstr("1 folder of items that this database has never "
                                                 "known, the first '" +
                                                 folder_of(unknown) + "'")));
}

TEST_F(RetentionTest, GcLeavesAYoungFolderAndThoseOfALaterDatabase) {
  const auto gone = commands_->enqueue(user_, request("gone.mrc")).id;
  commands_->cancel(user_, gone);
  EXPECT_EQ(remove(gone), "");
  leave_stray(std::to_string(gone));
  fs::create_directories(folder_of(gone) + "/a1");
  leave_stray("900");
  leave_stray("901");
  clock_.set_by(std::chrono::seconds(std::time(nullptr) - clock_.now()));
  const GcReport report = keeper_->collect(false);
  EXPECT_EQ(freed(report, GcKind::kStray).count, 0);
  EXPECT_TRUE(has_folder(gone));
  EXPECT_TRUE(fs::exists(config_.jobs() + "/900"));
  EXPECT_THAT(report.left,
              ElementsAre(HasSubstr("1 folder without a record in which something has changed"),
                          AllOf(HasSubstr("2 folders of items"),
                                HasSubstr("the first '" + config_.jobs() + "/900'"),
                                HasSubstr("the copy from which it was restored"))));
}

TEST_F(RetentionTest, GcRefusesWhileTheFolderOfJobsIsAwayAndOnceItWasStopped) {
  const auto id = failed("a.mrc");
  EXPECT_EQ(remove(id), "");
  fs::rename(config_.jobs() + "/.owner", folder_.file("owner"));
  EXPECT_THAT(refusal<Unavailable>([&] { keeper_->collect(true); }), HasSubstr("is away"));
  EXPECT_TRUE(has_folder(id));
  fs::rename(folder_.file("owner"), config_.jobs() + "/.owner");
  keeper_->stop();
  EXPECT_THAT(refusal<Unavailable>([&] { keeper_->collect(false); }), HasSubstr("later"));
  EXPECT_FALSE(keeper_->step());
  EXPECT_TRUE(has_folder(id));
}

TEST_F(RetentionTest, AnItemWhoseJobMayStillBeThereWaits) {
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  leave_manifest(attempt(id));
  ticks(1);
  retain({.age = std::chrono::seconds(1)});
  clock_.pass(kDay);
  keep();
  EXPECT_TRUE(is_listed(id));
  EXPECT_THAT(keeper_->collect(false).left, ElementsAre(HasSubstr("1 item whose jobs")));
  EXPECT_THAT(keeper_->collect(true).left, ElementsAre(HasSubstr("1 item whose jobs")));
  EXPECT_TRUE(is_listed(id));
}

}  // namespace
}  // namespace scheduler
