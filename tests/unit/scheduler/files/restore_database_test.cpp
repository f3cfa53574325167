#include "scheduler/files/restore_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/read_file.h"
#include "base/sha256.h"
#include "db/attempts.h"
#include "db/backup.h"
#include "db/items.h"
#include "db/schema.h"
#include "db/templates.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/scratch_folder.h"
#include "tests/unit/db/undo_newest_step.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A daemon's state folder, of which a copy was made.
class RestoreDatabaseTest : public testing::Test {
 protected:
  RestoreDatabaseTest() {
    fs::create_directories(jobs_);
    open();
    claim_jobs(jobs_, database_->instance());
    template_ = db::TemplateStore(*database_).insert({.name = "ribosome"});
    enqueue("/first");
    enqueue("/second");
    db::copy_database(database_->connection(), copy_);
  }

  void open() { database_ = std::make_unique<db::Database>(path_); }
  void close() { database_.reset(); }
  int64_t enqueue(const std::string& path) {
    return db::ItemStore(*database_).insert({.micrograph_path = path, .template_id = template_});
  }
  // What a submitted attempt has left.
  void make_attempt(int64_t item, int number) {
    const std::string folder = attempt_folder(jobs_, item, number);
    fs::create_directories(folder);
    scratch_.write(fs::relative(folder, scratch_.path()).string() + "/" + kScriptFile, "script");
    scratch_.write(fs::relative(folder, scratch_.path()).string() + "/" + kEngineConfigFile,
                   "config");
  }
  Restored restore() {
    return restore_database({.copy = copy_, .database = path_, .jobs = jobs_}, 1'700'000'000);
  }
  std::string refusal() {
    try {
      restore();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "not refused";
  }
  size_t names_in_state() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(state_), {}));
  }

  const tests::ScratchFolder scratch_;
  const std::string state_ = scratch_.path();
  const std::string path_ = scratch_.file("margay.db");
  const std::string copy_ = scratch_.file("copy.db");
  const std::string jobs_ = scratch_.file("jobs");
  std::unique_ptr<db::Database> database_;
  int64_t template_ = 0;
};

TEST_F(RestoreDatabaseTest, TheCopyTakesThePlaceAndWhatWasThereIsKept) {
  enqueue("/later");
  close();
  const Restored restored = restore();
  EXPECT_EQ(restored.kept, path_ + ".before-restore-20231114T221320Z");
  EXPECT_THAT(restored.looked_up, IsEmpty());
  EXPECT_EQ(db::verify_database(restored.kept).items, 3);
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  open();
  EXPECT_EQ(db::ItemStore(*database_).counts().at(db::ItemState::kQueued), 2);
  EXPECT_EQ(enqueue("/other"), 4) << "the number of an item that was lost does not return";
  EXPECT_TRUE(fs::exists(copy_)) << "the copy stays";
}

TEST_F(RestoreDatabaseTest, WhatWasThereIsKeptUnderANameOfItsOwnEachTime) {
  close();
  const std::string first = restore().kept;
  EXPECT_EQ(restore().kept, first + "-2");
}

// Its log cannot be folded into it, and would be apart from it for a moment.
TEST_F(RestoreDatabaseTest, ADatabaseThatAnotherProcessReadsStaysAsItIs) {
  enqueue("/later");
  close();
  {
    db::Connection other(path_);
    other.execute("PRAGMA journal_mode = WAL");
    db::Statement reading(other, "SELECT id FROM items");
    ASSERT_TRUE(reading.step());
    db::Connection writer(path_);
    writer.execute("UPDATE items SET reason = 'x'");
    EXPECT_THAT(refusal(), HasSubstr("is being read by another process"));
  }
  open();
  EXPECT_EQ(db::ItemStore(*database_).counts().at(db::ItemState::kQueued), 3);
}

TEST_F(RestoreDatabaseTest, AttemptsThatTheCopyDoesNotKnowAreOpenAndTheOthersLost) {
  close();
  make_attempt(1, 1);
  make_attempt(1, 2);
  fs::create_directories(attempt_folder(jobs_, 2, 1));  // nothing was submitted in it
  make_attempt(7, 1);
  const Restored restored = restore();
  EXPECT_THAT(restored.looked_up, ElementsAre(1));
  EXPECT_THAT(restored.unknown_items, ElementsAre(7));
  open();
  const auto attempts = db::AttemptStore(*database_).of_item(1);
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].state, db::AttemptState::kLost);
  EXPECT_EQ(attempts[1].state, db::AttemptState::kUnknown);
  EXPECT_EQ(attempts[1].directory, attempt_folder(jobs_, 1, 2));
  EXPECT_EQ(attempts[1].config_sha256, base::sha256_of_text("config"));
  EXPECT_EQ(db::ItemStore(*database_).find(2)->state, db::ItemState::kQueued);
  EXPECT_EQ(enqueue("/other"), 8);
}

TEST_F(RestoreDatabaseTest, ALinkInAScriptsPlaceIsNotRead) {
  close();
  make_attempt(1, 1);
  const std::string script = attempt_folder(jobs_, 1, 1) + "/" + kScriptFile;
  fs::remove(script);
  fs::create_symlink(scratch_.write("secret", "of another"), script);
  EXPECT_THAT(restore().looked_up, ElementsAre(1));
  open();
  const auto attempt = db::AttemptStore(*database_).newest_of_item(1);
  EXPECT_EQ(db::AttemptStore(*database_).script(attempt->id), "");
}

TEST_F(RestoreDatabaseTest, ADaemonThatHoldsTheDatabaseIsLeftAlone) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr("held by process"), HasSubstr("stop it first")));
  EXPECT_EQ(db::ItemStore(*database_).counts().at(db::ItemState::kQueued), 2);
}

TEST_F(RestoreDatabaseTest, ADamagedCopyIsRefusedAndNothingChanges) {
  close();
  const size_t before = names_in_state();
  db::Connection(copy_).execute("UPDATE items SET state = 'ACTIVE' WHERE id = 2");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("item 2 is ACTIVE"), HasSubstr("nothing was changed")));
  scratch_.write("copy.db", "no database");
  EXPECT_THAT(refusal(), HasSubstr("not a database"));
  fs::remove(copy_);
  EXPECT_THAT(refusal(), HasSubstr("there is no copy '" + copy_ + "'"));
  EXPECT_EQ(names_in_state(), before - 1) << "the copy was removed";
  open();
  EXPECT_EQ(db::ItemStore(*database_).counts().at(db::ItemState::kQueued), 2);
}

TEST_F(RestoreDatabaseTest, TheDatabaseItselfIsNoCopy) {
  close();
  fs::remove(copy_);
  fs::create_symlink(path_, copy_);
  EXPECT_THAT(refusal(), HasSubstr("is the database itself"));
}

TEST_F(RestoreDatabaseTest, WithoutTheFolderOfJobsNothingIsRestoredUnlessItIsGoneForGood) {
  close();
  make_attempt(1, 1);
  fs::rename(jobs_, scratch_.file("unmounted"));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("is away"), HasSubstr("--without-jobs")));
  const Restored restored = restore_database(
      {.copy = copy_, .database = path_, .jobs = jobs_, .without_jobs = true}, 1'700'000'000);
  EXPECT_THAT(restored.looked_up, IsEmpty());
  EXPECT_EQ(db::verify_database(path_).items, 2);
}

TEST_F(RestoreDatabaseTest, ACopyOfAnotherDatabaseIsRefused) {
  close();
  fs::remove(copy_);
  const std::string other = scratch_.file("other.db");
  {
    db::Database of_others(other);
    db::copy_database(of_others.connection(), copy_);
  }
  EXPECT_THAT(refusal(), HasSubstr("belongs to the database "));
}

TEST_F(RestoreDatabaseTest, ADatabaseThatCannotBeReadIsKeptAsItIs) {
  close();
  scratch_.write("margay.db", std::string(8192, 'x'));
  scratch_.write("margay.db-wal", "log");
  const Restored restored = restore();
  EXPECT_THAT(restored.kept_problem, HasSubstr("not a database"));
  EXPECT_EQ(base::read_file(restored.kept), std::string(8192, 'x'));
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  open();
  EXPECT_EQ(db::ItemStore(*database_).counts().at(db::ItemState::kQueued), 2);
}

TEST_F(RestoreDatabaseTest, IntoAnEmptyStateFolderToo) {
  close();
  fs::remove(path_);
  EXPECT_EQ(restore().kept, "");
  EXPECT_EQ(db::verify_database(path_).items, 2);
}

TEST_F(RestoreDatabaseTest, RightsStayThoseOfTheDatabaseThatWasThere) {
  close();
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  const bool root = ::geteuid() == 0;
  const bool given = !root || ::chown(path_.c_str(), 12, 34) == 0;
  ASSERT_TRUE(given);
  restore();
  struct stat facts {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  if (root) {
    EXPECT_EQ(facts.st_uid, 12U);
    EXPECT_EQ(facts.st_gid, 34U);
  }
}

// The first release's copy: the daemon upgrades it at its start, as it upgrades a database.
TEST_F(RestoreDatabaseTest, ACopyOfAnOlderSchemaGetsItsAttemptsAndIsUpgradedAtTheStart) {
  close();
  db::undo_newest_step(copy_);
  make_attempt(1, 1);
  EXPECT_EQ(restore().copy.schema, db::newest_schema() - 1);
  open();
  EXPECT_EQ(database_->schema_version(), db::newest_schema());
  EXPECT_EQ(db::AttemptStore(*database_).newest_of_item(1)->state, db::AttemptState::kUnknown);
  close();
  db::Connection(copy_).execute("PRAGMA user_version = 99");
  EXPECT_THAT(refusal(), HasSubstr("version 99"));
}

}  // namespace
}  // namespace scheduler
