#include "scheduler/files/registered_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

FileFacts registered() {
  return {.path = "/data/a.mrc",
          .bytes = 10,
          .mtime_ns = 20,
          .id = {.inode = 30, .device = 40, .mount = "boot/5"}};
}

TEST(Difference, IsNoneForTheSameFile) { EXPECT_EQ(difference(registered(), registered()), ""); }

TEST(Difference, IsAnotherPathSizeTimeOrInode) {
  FileFacts path = registered();
  path.path = "/secret/a.mrc";
  path.bytes = 11;
  EXPECT_THAT(difference(registered(), path), HasSubstr("symbolic link")) << "no word of its size";
  FileFacts size = registered();
  size.bytes = 11;
  EXPECT_THAT(difference(registered(), size), HasSubstr("10 bytes then, 11 now"));
  FileFacts time = registered();
  time.mtime_ns = 21;
  EXPECT_THAT(difference(registered(), time), HasSubstr("written again"));
  FileFacts inode = registered();
  inode.id.inode = 31;
  EXPECT_THAT(difference(registered(), inode), HasSubstr("another file"));
}

TEST(Difference, IsAnotherDeviceOnlyWithinOneBootAndMount) {
  FileFacts device = registered();
  device.id.device = 41;
  EXPECT_THAT(difference(registered(), device), HasSubstr("another file"));
  device.id.mount = "boot/6";
  EXPECT_EQ(difference(registered(), device), "");
  FileFacts unknown = registered();
  unknown.id.mount.clear();
  device.id.mount.clear();
  EXPECT_EQ(difference(unknown, device), "");
}

TEST(Difference, IsNotSeenInWhatWasNotKept) {
  FileFacts old = registered();
  old.id = {};
  EXPECT_EQ(difference(old, registered()), "");
}

class RegisteredFile : public testing::Test {
 protected:
  RegisteredFile() {
    fs::create_directory(folder_.file("theirs"));
    facts_ = file_facts(folder_.write("theirs/a.mrc", "12345"));
  }
  FoundFile find() const { return find_registered(facts_); }

  tests::ScratchFolder folder_;
  FileFacts facts_;
};

TEST_F(RegisteredFile, IsFoundOpenForReading) {
  const FoundFile found = find();
  EXPECT_EQ(found.change, FileChange::kNone) << found.text;
  char byte = 0;
  EXPECT_EQ(::read(found.descriptor.get(), &byte, 1), 1);
  EXPECT_EQ(byte, '1');
}

TEST_F(RegisteredFile, IsNotALinkToItselfNorToNothing) {
  fs::rename(facts_.path, folder_.file("theirs/b.mrc"));
  fs::create_symlink("b.mrc", facts_.path);
  EXPECT_EQ(find().change, FileChange::kOther);
  EXPECT_THAT(find().text, HasSubstr("symbolic link"));
  const std::string there = find().text;
  fs::remove(folder_.file("theirs/b.mrc"));
  EXPECT_EQ(find().text, there) << "whether there is a file behind the link is not answered";
}

TEST_F(RegisteredFile, IsNotLookedForBehindALinkInItsFoldersPlace) {
  const std::string place = folder_.file("theirs");
  fs::rename(place, folder_.file("moved"));
  fs::create_directory_symlink("moved", place);
  const FoundFile found = find();
  EXPECT_EQ(found.change, FileChange::kOther);
  EXPECT_THAT(found.text, HasSubstr("symbolic link"));
  fs::remove_all(folder_.file("moved"));
  EXPECT_EQ(find().text, found.text) << "whether there is a folder behind the link is not answered";
}

TEST_F(RegisteredFile, IsNoPipeFolderOrSocketInItsPlace) {
  fs::remove(facts_.path);
  ASSERT_EQ(::mkfifo(facts_.path.c_str(), 0600), 0);
  EXPECT_THAT(find().text, HasSubstr("not a regular file"));
  fs::remove(facts_.path);
  fs::create_directory(facts_.path);
  EXPECT_THAT(find().text, HasSubstr("not a regular file"));
}

TEST_F(RegisteredFile, IsMissingOrAwayWithItsFolder) {
  fs::remove(facts_.path);
  EXPECT_EQ(find().change, FileChange::kMissing);
  EXPECT_THAT(problem_of(find()), HasSubstr("is missing: put it back and use `margay retry`"));
  fs::remove(folder_.file("theirs"));
  EXPECT_EQ(find().change, FileChange::kAway);
  EXPECT_THAT(find().text, HasSubstr("together with its folder"));
}

TEST_F(RegisteredFile, ThatCannotBeLookedAtProvesNothing) {
  facts_.path = folder_.file("theirs/" + std::string(300, 'x'));
  EXPECT_THROW(find(), std::system_error);
}

}  // namespace
}  // namespace scheduler
