#include "scheduler/files/removed_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <filesystem>

#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;

class RemovedFolderTest : public testing::Test {
 protected:
  RemovedFolderTest() {
    for (const char* folder : {"7/a1/claim", "7/a2", "8/a1"}) {
      fs::create_directories(jobs_ + "/" + folder);
    }
    write("7/current", "2");
    write("7/a1/job.log", "12345");
    write("7/a1/claim/owner", "me");
    write("7/a2/mip.mrc", "map");
    write("7/a2/job.log", "abcd");
    write("8/a1/job.log", "other");
  }
  void write(const std::string& name, const std::string& text) const {
    scratch_.write("jobs/" + name, text);
  }
  bool exists(const std::string& name) const { return fs::exists(jobs_ + "/" + name); }
  // Ends the call at this point, as a crash does.
  static CrashHook crash_at(const std::string& point) {
    return [point](const std::string& reached) {
      if (reached == point) throw std::runtime_error(reached);
    };
  }
  static bool is_map(const std::string& file) { return file == "mip.mrc"; }

  tests::ScratchFolder scratch_;
  const std::string jobs_ = [this] {
    fs::create_directories(scratch_.file("jobs"));
    return scratch_.file("jobs");
  }();
};

TEST_F(RemovedFolderTest, GoesWithAllThatIsInIt) {
  EXPECT_EQ(bytes_in(jobs_ + "/7"), 15);
  EXPECT_EQ(remove_folder(jobs_, "7", {}), 15);
  EXPECT_FALSE(exists("7"));
  EXPECT_FALSE(exists(kRemovedFolder));
  EXPECT_TRUE(exists("8/a1/job.log"));
  EXPECT_EQ(remove_folder(jobs_, "7", {}), 0) << "again";
  EXPECT_EQ(bytes_in(jobs_ + "/7"), 0);
}

TEST_F(RemovedFolderTest, IsWholeOrGoneAfterACrash) {
  EXPECT_THROW(remove_folder(jobs_, "7", crash_at("before-removal")), std::runtime_error);
  EXPECT_EQ(bytes_in(jobs_ + "/7"), 15);
  EXPECT_THROW(remove_folder(jobs_, "7", crash_at("moved-for-removal")), std::runtime_error);
  EXPECT_FALSE(exists("7"));
  EXPECT_TRUE(exists(std::string(kRemovedFolder) + "/7/a1/job.log"));
  EXPECT_EQ(remove_folder(jobs_, "7", {}), 15);
  EXPECT_FALSE(exists(kRemovedFolder));
}

TEST_F(RemovedFolderTest, KeepsTheFilesOfItsResult) {
  const std::string kept = jobs_ + "/7/a2";
  EXPECT_EQ(bytes_besides(jobs_ + "/7", kept, is_map), 12);
  EXPECT_THROW(remove_all_but(jobs_, "7", kept, is_map, crash_at("moved-for-removal")),
               std::runtime_error);
  EXPECT_EQ(remove_all_but(jobs_, "7", kept, is_map, {}), 12);
  EXPECT_TRUE(exists("7/a2/mip.mrc"));
  EXPECT_EQ(bytes_in(jobs_ + "/7"), 3);
  EXPECT_FALSE(exists("7/a1"));
  EXPECT_FALSE(exists(kRemovedFolder));
  EXPECT_EQ(remove_all_but(jobs_, "7", kept, is_map, {}), 0) << "again";
}

TEST_F(RemovedFolderTest, MayBeAnAttemptsFolderInAnItems) {
  EXPECT_EQ(remove_folder(jobs_, "7/a1", {}), 7);
  EXPECT_FALSE(exists("7/a1"));
  EXPECT_TRUE(exists("7/a2/mip.mrc"));
  EXPECT_FALSE(exists(kRemovedFolder));
}

TEST_F(RemovedFolderTest, WhatNobodyRemembersIsRemovedFromBeside) {
  fs::create_directories(jobs_ + "/.removed/5/a1");
  write(".removed/5/a1/job.log", "123");
  EXPECT_EQ(remove_aside(jobs_), 3);
  EXPECT_FALSE(exists(kRemovedFolder));
  EXPECT_EQ(remove_aside(jobs_), 0);
}

TEST_F(RemovedFolderTest, ChangedWhenTheNewestOfItsFilesDid) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  for (const char* path : {"7/a1/claim/owner", "7/a1/claim", "7/a1/job.log", "7/a1"}) {
    fs::last_write_time(jobs_ + "/" + path, old);
  }
  EXPECT_LT(newest_change(jobs_ + "/7/a1"), std::time(nullptr) - 3'000'000);
  EXPECT_GT(newest_change(jobs_ + "/7"), std::time(nullptr) - 3'000);
  EXPECT_EQ(newest_change(jobs_ + "/nothing"), 0);
}

// A job may leave a link to anything.
TEST_F(RemovedFolderTest, FollowsNoLink) {
  const std::string data = scratch_.file("data");
  fs::create_directories(data);
  scratch_.write("data/mine", "precious");
  fs::create_directory_symlink(data, jobs_ + "/7/a1/link");
  fs::remove_all(jobs_ + "/7/a2");
  fs::create_directory_symlink(data, jobs_ + "/7/a2");
  fs::create_directory_symlink(data, jobs_ + "/9");
  EXPECT_EQ(bytes_in(jobs_ + "/9"), 0);
  remove_all_but(jobs_, "7", jobs_ + "/7/a2", is_map, {});
  EXPECT_TRUE(fs::exists(data + "/mine"));
  remove_folder(jobs_, "7", {});
  remove_folder(jobs_, "9", {});
  EXPECT_FALSE(fs::exists(fs::symlink_status(jobs_ + "/9")));
  EXPECT_TRUE(fs::exists(data + "/mine"));
}

}  // namespace
}  // namespace scheduler
