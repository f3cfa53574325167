#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/scratch_folder.h"
#include "tests/small_disk.h"

namespace base {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

auto names_in(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), {});
}

TEST(AtomicFiles, AWrittenFileIsWholeAndLeavesNothingBeside) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file(std::string(250, 'n') + ".csv");
  write_file_atomically(path, "old and longer");
  write_file_atomically(path, "new");
  EXPECT_EQ(tests::text_of(path), "new");
  write_file_atomically_at(open_folder(folder.path()).get(), "beside", "text");
  EXPECT_EQ(tests::text_of(folder.file("beside")), "text");
  EXPECT_EQ(names_in(folder.path()), 2);
}

TEST(AtomicFiles, ANewOneLeavesWhatIsThereAndOnlyTheFirstIsWritten) {
  const tests::ScratchFolder folder;
  const std::string path = folder / "owner";
  EXPECT_TRUE(write_new_file_atomically(path, "first"));
  EXPECT_FALSE(write_new_file_atomically(path, "second"));
  EXPECT_EQ(tests::text_of(path), "first");
  EXPECT_EQ(names_in(folder.path()), 1) << "no hidden name stays";
}

TEST(AtomicFiles, AFolderIsMadeOnlyWhereThatIsWished) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file("a/b/c");
  EXPECT_THAT([&] { write_file_atomically(path, "x"); },
              ThrowsMessage<FileError>(AllOf(HasSubstr("a/b'"), HasSubstr("No such file"))));
  write_file_atomically(path, "x", {.folder = Folder::kMake});
  EXPECT_EQ(tests::text_of(path), "x");
  EXPECT_THAT([&] { AtomicFile(path + "/d", Folder::kMake); },
              ThrowsMessage<FileError>(HasSubstr("cannot make the folder '" + path + "'")));
}

TEST(AtomicFiles, TheModeIsThatOfTheNewFile) {
  const tests::ScratchFolder folder;
  write_file_atomically(folder.file("script"), "x", {.mode = 0750});
  struct stat status = {};
  ASSERT_EQ(::stat(folder.file("script").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0700U, 0700U);
  EXPECT_EQ(status.st_mode & 0007U, 0U);
}

TEST(AtomicFiles, AFullDiskIsCalledSoAndLeavesTheOldFile) {
  const tests::ScratchFolder folder;
  const tests::SmallDisk disk(folder.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  const std::string path = folder.write("list.csv", "old");
  disk.fill();
  EXPECT_THAT([&] { write_file_atomically(path, "text"); },
              ThrowsMessage<FileError>(AllOf(HasSubstr("list.csv"), HasSubstr("disk is full"))));
  EXPECT_EQ(tests::text_of(path), "old");
  EXPECT_EQ(names_in(folder.path()), 2) << "the old one and what fills the disk";
}

// The hidden name is known to whoever reads the process's number.
TEST(AtomicFiles, ALinkUnderTheHiddenNameIsNotFollowed) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file("list.csv");
  const std::string aim = folder.write("aim", "of another");
  const AtomicFile same_name(path, Folder::kMustExist);
  for (const bool is_symbolic : {true, false}) {
    if (is_symbolic) {
      fs::create_symlink(aim, same_name.temporary());
    } else {
      fs::create_hard_link(aim, same_name.temporary());
    }
    write_file_atomically(path, "text");
    EXPECT_EQ(tests::text_of(aim), "of another");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path)));
    EXPECT_EQ(tests::text_of(path), "text");
    EXPECT_EQ(names_in(folder.path()), 2);
  }
}

TEST(AtomicFiles, WhatAProcessThatWasKilledLeftIsReplaced) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file("owner");
  const AtomicFile same_name(path, Folder::kMustExist);
  folder.write(fs::path(same_name.temporary()).filename().string(), "half, and longer");
  EXPECT_TRUE(write_new_file_atomically(path, "whole"));
  EXPECT_EQ(tests::text_of(path), "whole");
  EXPECT_EQ(names_in(folder.path()), 1);
}

TEST(AtomicFiles, AHiddenNameThatCannotBeRemovedIsNamed) {
  const tests::ScratchFolder folder;
  const std::string path = folder.file("owner");
  const AtomicFile same_name(path, Folder::kMustExist);
  const std::string hidden = fs::path(same_name.temporary()).filename().string();
  fs::create_directory(same_name.temporary());
  EXPECT_THAT([&] { write_new_file_atomically(path, "text"); },
              ThrowsMessage<FileError>(AllOf(HasSubstr(path), HasSubstr(hidden))));
  EXPECT_FALSE(fs::exists(path));
}

TEST(AtomicFiles, OneThatIsMadeByHandIsNewAndFollowsNoLinkEither) {
  const tests::ScratchFolder folder;
  const std::string aim = folder.write("aim", "of another");
  AtomicFile file(folder.file("f"), Folder::kMustExist);
  fs::create_symlink(aim, file.temporary());
  ASSERT_TRUE(write_all(file.create(0600).get(), "first"));
  ASSERT_TRUE(write_all(file.create(0600).get(), "new"));
  EXPECT_EQ(fs::status(file.temporary()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  file.commit();
  EXPECT_EQ(tests::text_of(aim), "of another");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.file("f"))));
  EXPECT_EQ(tests::text_of(folder.file("f")), "new");
  const AtomicFile blocked(folder.file("g"), Folder::kMustExist);
  fs::create_directory(blocked.temporary());
  EXPECT_THAT([&] { blocked.create(); }, ThrowsMessage<FileError>(HasSubstr(folder.file("g"))));
  fs::remove(blocked.temporary());
}

TEST(AtomicFiles, WhatIsNotCommittedIsRemoved) {
  const tests::ScratchFolder folder;
  {
    const AtomicFile file(folder.file("f"), Folder::kMustExist);
    EXPECT_FALSE(fs::exists(folder.file("f")));
    folder.write(fs::path(file.temporary()).filename().string(), "half");
  }
  EXPECT_EQ(names_in(folder.path()), 0);
  AtomicFile file(folder.file("f"), Folder::kMustExist);
  folder.write(fs::path(file.temporary()).filename().string(), "whole");
  file.commit();
  EXPECT_EQ(tests::text_of(folder.file("f")), "whole");
}

}  // namespace
}  // namespace base
