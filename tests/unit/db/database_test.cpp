#include "db/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/atomic_file.h"
#include "db/backup.h"
#include "db/disk_reserve.h"
#include "db/items.h"
#include "db/schema.h"
#include "db/templates.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"
#include "tests/unit/db/undo_newest_step.h"

namespace db {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::SmallDisk;

template <typename Refusal, typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Refusal& error) {
    return error.what();
  }
  return "not refused";
}

class DatabaseTest : public testing::Test {
 protected:
  tests::ScratchFolder folder_;
  const std::string path_ = folder_.file("margay.db");
};

TEST_F(DatabaseTest, KeepsItsInstanceWhenItIsOpenedAgain) {
  const std::string instance = Database(path_).instance();
  EXPECT_EQ(instance.size(), 6u);
  EXPECT_EQ(Database(path_).instance(), instance);
  EXPECT_NE(Database(folder_.file("other.db")).instance(), instance);
}

TEST_F(DatabaseTest, ASecondProcessIsRefusedWithTheHoldersName) {
  const Database first(path_);
  EXPECT_THAT(
      refusal<DatabaseHeld>([&] { Database second(path_); }),
      AllOf(HasSubstr("held by process " + std::to_string(getpid())), HasSubstr("stop it first")));
}

TEST_F(DatabaseTest, IsFreeAgainWhenItsHolderIsGone) {
  { const Database first(path_); }
  EXPECT_NO_THROW(Database second(path_));
}

TEST_F(DatabaseTest, OpensAgainOnADiskThatIsFullMeanwhile) {
  const SmallDisk disk(folder_.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  const std::string instance = Database(path_).instance();
  disk.fill();
  EXPECT_EQ(Database(path_).instance(), instance);
}

TEST_F(DatabaseTest, NamesTheFullDiskWhereItCannotBeOpened) {
  const SmallDisk disk(folder_.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  { const Database first(path_); }
  release_reserve(path_ + ".reserve");
  disk.fill();
  EXPECT_THAT(refusal<DatabaseError>([&] { Database database(path_); }), HasSubstr("is full"));
}

TEST_F(DatabaseTest, ANewerSchemaIsRefusedAndLeftAlone) {
  { const Database first(path_); }
  {
    Connection raw(path_);
    raw.execute("PRAGMA user_version = 999");
  }
  EXPECT_THAT(refusal<DatabaseRefused>([&] { Database second(path_); }),
              AllOf(HasSubstr("schema version 999"), HasSubstr("newer margayd")));
  Connection raw(path_);
  Statement version(raw, "PRAGMA user_version");
  ASSERT_TRUE(version.step());
  EXPECT_EQ(version.integer(0), 999);
}

int64_t version_of(const std::string& path) {
  Connection raw(path);
  Statement version(raw, "PRAGMA user_version");
  return version.step() ? version.integer(0) : -1;
}

// As the version before left it.
std::string copy_of_older(const std::string& path) {
  return path + ".schema" + std::to_string(newest_schema() - 1);
}

TEST_F(DatabaseTest, IsCopiedBeforeItsSchemaIsUpgraded) {
  const std::string instance = Database(path_).instance();
  undo_newest_step(path_);
  EXPECT_EQ(Database(path_).schema_version(), newest_schema());
  EXPECT_EQ(version_of(copy_of_older(path_)), newest_schema() - 1);
  Connection copy(copy_of_older(path_));
  Statement query(copy, "SELECT id FROM instance");
  ASSERT_TRUE(query.step());
  EXPECT_EQ(query.text(0), instance);
  EXPECT_EQ(std::filesystem::status(copy_of_older(path_)).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DatabaseTest, OfTheNewestSchemaIsNotCopied) {
  { const Database first(path_); }
  { const Database second(path_); }
  EXPECT_FALSE(std::filesystem::exists(path_ + ".schema" + std::to_string(newest_schema())));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".schema0"));
}

TEST_F(DatabaseTest, IsNotUpgradedWhereItCannotBeCopied) {
  { const Database first(path_); }
  undo_newest_step(path_);
  std::filesystem::create_directory(copy_of_older(path_));
  EXPECT_THAT(refusal<DatabaseError>([&] { Database second(path_); }),
              HasSubstr("cannot copy the database to '" + copy_of_older(path_) + "'"));
  EXPECT_EQ(version_of(path_), newest_schema() - 1);
}

void add_template_of_bytes(const std::string& path, size_t bytes) {
  Database database(path);
  Transaction transaction(database);
  TemplateStore(database).insert({.name = "large", .search_yaml = std::string(bytes, 'x')});
  transaction.commit();
}

TEST_F(DatabaseTest, SaysHowMuchRoomTheCopyBeforeAnUpgradeNeeds) {
  const SmallDisk disk(folder_.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  add_template_of_bytes(path_, 6'000'000);
  undo_newest_step(path_);
  disk.fill();
  EXPECT_THAT(refusal<NoRoomForCopy>([&] { Database second(path_); }),
              AllOf(HasSubstr("from version " + std::to_string(newest_schema() - 1)),
                    HasSubstr("cannot copy the database to '" + copy_of_older(path_)),
                    testing::ContainsRegex("takes up to 7.. MB and .* free; free another .* MB on "
                                           "the disk of '" +
                                           folder_.path()),
                    HasSubstr("start margayd again; nothing has changed")));
  EXPECT_EQ(version_of(path_), newest_schema() - 1);
  EXPECT_FALSE(std::filesystem::exists(copy_of_older(path_)));
  std::filesystem::remove(folder_.file("fill"));
  EXPECT_EQ(Database(path_).schema_version(), newest_schema());
  EXPECT_EQ(version_of(copy_of_older(path_)), newest_schema() - 1);
}

TEST_F(DatabaseTest, NobodyElseReadsACopyWhileItIsMade) {
  Database database(path_);
  const std::string copy = folder_.file("copy.db");
  const mode_t before = ::umask(0);
  copy_database(database.connection(), copy);
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(copy).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DatabaseTest, IsCopiedWhileItIsInUse) {
  Database database(path_);
  const std::scoped_lock lock(database.mutex());
  const std::string copy = folder_.file("copy.db");
  copy_database(database.connection(), copy);
  copy_database(database.connection(), copy);
  EXPECT_EQ(version_of(copy), newest_schema());
  EXPECT_THAT(
      refusal<DatabaseError>([&] { copy_database(database.connection(), "/no/such/folder/x"); }),
      HasSubstr("/no/such/folder/x"));
}

// A file that may not grow: what a disk that fills up while the copy is written does to SQLite.
TEST_F(DatabaseTest, ACopyThatCannotBeWrittenNamesItsOwnDiskAndTheFreeSpaceThere) {
  add_template_of_bytes(path_, 3'000'000);
  std::filesystem::create_directory(folder_.file("backup"));
  const std::string copy = folder_.file("backup/copy.db");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto on_large_file = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1'000'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string says = refusal<DatabaseError>([&] {
    Connection connection(path_);
    copy_database(connection, copy);
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, on_large_file);
  EXPECT_THAT(says, AllOf(HasSubstr("cannot copy the database to '" + copy + "': "),
                          HasSubstr("while '" + folder_.file("backup/.margay-")),
                          HasSubstr(" are free on the disk of '" + folder_.file("backup") + "'")));
  EXPECT_THAT(says, testing::Not(HasSubstr(path_))) << "that one is on another disk";
  for (const auto& left : std::filesystem::directory_iterator(folder_.file("backup"))) {
    ADD_FAILURE() << left.path();
  }
}

TEST_F(DatabaseTest, ABackupNeedsADatabaseAndAFreeName) {
  const std::string copy = folder_.file("copy.db");
  EXPECT_THAT(refusal<DatabaseRefused>([&] { back_up(path_, copy); }),
              HasSubstr("there is no database '" + path_ + "'"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  const Database database(path_);
  back_up(path_, copy);
  EXPECT_EQ(version_of(copy), newest_schema());
  EXPECT_THAT(refusal<DatabaseRefused>([&] { back_up(path_, copy); }), HasSubstr("exists"));
}

TEST_F(DatabaseTest, NoLinkInTheHiddenNamesPlaceIsWrittenTo) {
  Database database(path_);
  const std::string copy = folder_.file("copy.db");
  const std::string aim = folder_.write("aim", "of another");
  const base::AtomicFile same_name(copy, base::Folder::kMustExist);
  std::filesystem::create_symlink(aim, same_name.temporary());
  copy_database(database.connection(), copy);
  EXPECT_EQ(tests::text_of(aim), "of another");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(copy)));
}

TEST_F(DatabaseTest, AnEmptyDatabaseGetsTheNewestSchema) {
  EXPECT_EQ(Database(path_).schema_version(), newest_schema());
}

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsRefusedByName) {
  folder_.write("margay.db", std::string(8192, 'x'));
  EXPECT_THAT(refusal<DatabaseError>([&] { Database second(path_); }),
              AllOf(HasSubstr(path_), HasSubstr("backup")));
}

TEST_F(DatabaseTest, AFolderThatIsMissingIsNamed) {
  EXPECT_THAT(refusal<DatabaseError>([&] { Database second(folder_.file("none") + "/margay.db"); }),
              HasSubstr("none"));
}

TEST_F(DatabaseTest, EveryCommitIsOnTheDiskBeforeItReturns) {
  Database database(path_);
  Statement synchronous(database.connection(), "PRAGMA synchronous");
  ASSERT_TRUE(synchronous.step());
  EXPECT_EQ(synchronous.integer(0), 2);  // FULL
  Statement journal(database.connection(), "PRAGMA journal_mode");
  ASSERT_TRUE(journal.step());
  EXPECT_EQ(journal.text(0), "wal");
}

TEST_F(DatabaseTest, WhatIsNotCommittedIsGone) {
  Database database(path_);
  {
    const Transaction transaction(database);
    TemplateStore(database).insert({.name = "a"});
  }
  EXPECT_FALSE(TemplateStore(database).find_newest("a"));
  {
    Transaction transaction(database);
    TemplateStore(database).insert({.name = "a"});
    transaction.commit();
  }
  EXPECT_TRUE(TemplateStore(database).find_newest("a"));
}

TEST_F(DatabaseTest, AnItemWithoutItsTemplateCannotBeStored) {
  Database database(path_);
  EXPECT_THROW(ItemStore(database).insert({.micrograph_path = "/m.mrc", .template_id = 77}),
               DatabaseError);
}

TEST_F(DatabaseTest, TwoThreadsNeverSeeHalfATransaction) {
  Database database(path_);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      Transaction transaction(database);
      TemplateStore(database).insert({.name = "x", .version = 2 * i + 1});
      TemplateStore(database).insert({.name = "x", .version = 2 * i + 2});
      transaction.commit();
    }
  });
  size_t seen = 0;
  while (seen < 40) {
    seen = TemplateStore(database).list().size();
    EXPECT_EQ(seen % 2, 0u);
  }
  writer.join();
}

TEST(NetworkFileSystems, AreKnownByTheirNumbers) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0xFF534D42), "CIFS");
  EXPECT_EQ(network_file_system(0xFE534D42), "SMB2");
  EXPECT_EQ(network_file_system(0x0BD00BD0), "Lustre");
  EXPECT_EQ(network_file_system(0x47504653), "GPFS");
  EXPECT_EQ(network_file_system(0x19830326), "BeeGFS");
  EXPECT_EQ(network_file_system(0x00C36400), "Ceph");
}

TEST(NetworkFileSystems, LocalDisksAreNotAmongThem) {
  for (const long magic : {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794C7630L}) {
    EXPECT_EQ(network_file_system(magic), "");
  }
}

}  // namespace
}  // namespace db
