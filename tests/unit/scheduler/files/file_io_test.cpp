#include "scheduler/files/file_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/sha256.h"
#include "scheduler/errors.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

using testing::HasSubstr;

template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Invalid& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Files, AFileThatGrewIsReadToTheSizeThatIsAskedFor) {
  const tests::ScratchFolder folder;
  const base::Descriptor file(open(folder.write("a.mrc", "1234567").c_str(), O_RDONLY));
  const auto never = [] { return false; };
  EXPECT_EQ(hash_file_unless(file.get(), 5, never), base::sha256_of_text("12345"));
  EXPECT_EQ(hash_file_unless(file.get(), 9, never), base::sha256_of_text("1234567"));
  EXPECT_FALSE(hash_file_unless(file.get(), 9, [] { return true; }));
}

TEST(Files, AFileIsKnownByItsCanonicalPathWhateverLinkLedToIt) {
  const tests::ScratchFolder folder;
  const std::string path = folder.write("a b\n'ü.mrc", "12345");
  std::filesystem::create_symlink(path, folder.file("link"));
  const FileFacts facts = file_facts(folder.file("link"));
  EXPECT_EQ(facts.path, std::filesystem::canonical(path).string());
  EXPECT_EQ(facts.bytes, 5);
  EXPECT_GT(facts.mtime_ns, 0);
}

TEST(Files, WhatIsNoReadableFileIsRefusedByName) {
  const tests::ScratchFolder folder;
  EXPECT_THAT(refusal([&] { file_facts(folder.file("none")); }), HasSubstr("none"));
  EXPECT_THAT(refusal([&] { file_facts(folder.path()); }), HasSubstr("not a regular file"));
  const std::string path = folder.write("latin\xfc.mrc", "x");
  EXPECT_THAT(refusal([&] { file_facts(path); }), HasSubstr("not valid UTF-8"));
}

TEST(Files, AFileDeletedWhileItIsOpenIsRefused) {
  const tests::ScratchFolder folder;
  const std::string path = folder.write("gone.mrc", "x");
  const int file = open(path.c_str(), O_RDONLY);
  std::filesystem::remove(path);
  EXPECT_EQ(refusal([&] { file_facts(file); }), "'" + path + "' was deleted meanwhile");
  close(file);
}

TEST(Files, AnOpenFileIsHashedAndOneThatCannotBeIsRefusedByName) {
  const tests::ScratchFolder folder;
  const base::Descriptor file(open(folder.write("abc", "abc").c_str(), O_RDONLY));
  const auto never = [] { return false; };
  EXPECT_EQ(hash_file_unless(file.get(), 3, never),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const base::Descriptor no_file(open(folder.path().c_str(), O_RDONLY));
  EXPECT_THAT([&] { hash_file_unless(no_file.get(), 3, never); },
              testing::ThrowsMessage<base::FileError>(HasSubstr("'" + folder.path() + "'")));
}

TEST(AttemptFolder, AFolderWithANumberOfNoAttemptCountsForNothing) {
  const tests::ScratchFolder jobs;
  std::filesystem::create_directories(jobs.file("7/a3/claim"));
  std::filesystem::create_directories(jobs.file("7/a2147483647/claim"));
  EXPECT_EQ(highest_claimed(jobs.path(), 7), 3);
}

TEST(Space, OfAMissingFolderIsThatOfThePlaceWhereItWouldBe) {
  const tests::ScratchFolder folder;
  EXPECT_GT(free_bytes(folder.path()), 0);
  EXPECT_GT(free_bytes(folder.file("none/deeper")), 0);
  EXPECT_THROW(free_bytes(folder.write("file", "") + "/none"), std::system_error);
}

TEST(JobsOwner, AFolderOfJobsBelongsToItsFirstDatabase) {
  const tests::ScratchFolder folder;
  EXPECT_EQ(claim_jobs(folder.path(), "abc123"), "abc123");
  EXPECT_EQ(claim_jobs(folder.path(), "xyz789"), "abc123");
  EXPECT_EQ(claim_jobs(folder.path(), "abc123"), "abc123");
}

TEST(JobsOwner, AnEmptyFileIsNobodys) {
  const tests::ScratchFolder folder;
  folder.write(kOwnerFile, "");
  EXPECT_EQ(claim_jobs(folder.path(), "abc123"), "abc123");
  EXPECT_EQ(claim_jobs(folder.path(), "xyz789"), "abc123");
}

TEST(JobsOwner, SaysWhatIsWrongWithAFolderThatIsNotOurs) {
  const tests::ScratchFolder folder;
  EXPECT_THAT(why_not_ours(folder.file("jobs"), "abc123"), HasSubstr("is away: mount its file"));
  std::filesystem::create_directory(folder.file("jobs"));
  EXPECT_THAT(why_not_ours(folder.file("jobs"), "abc123"), HasSubstr("is away: mount its file"));
  claim_jobs(folder.file("jobs"), "abc123");
  EXPECT_EQ(why_not_ours(folder.file("jobs"), "abc123"), "");
  EXPECT_THAT(why_not_ours(folder.file("jobs"), "xyz789"),
              HasSubstr("belongs to another database (abc123)"));
  std::filesystem::remove(folder.file("jobs") + "/.owner");
  std::filesystem::create_directory(folder.file("jobs") + "/.owner");
  EXPECT_THAT(why_not_ours(folder.file("jobs"), "abc123"), HasSubstr("cannot be used: "));
}

TEST(JobsOwner, TheMarkOfAFolderInUseIsNeverOld) {
  const tests::ScratchFolder folder;
  claim_jobs(folder.path(), "abc123");
  const auto written = [&] { return std::filesystem::last_write_time(folder.file(".owner")); };
  const auto old = written() - std::chrono::hours(24 * 30);
  std::filesystem::last_write_time(folder.file(".owner"), old);
  EXPECT_EQ(why_not_ours(folder.path(), "abc123"), "");
  EXPECT_GT(written(), old + std::chrono::hours(24 * 29));
}

TEST(Space, GrowsWithTheMicrographInEitherByteOrder) {
  const tests::ScratchFolder folder;
  const std::string little("\x00\x10\x00\x00\x00\x10\x00\x00", 8);  // 4096 x 4096
  const std::string big("\x00\x00\x10\x00\x00\x00\x10\x00", 8);
  const auto with_header = [&](const std::string& name, const std::string& header) {
    const std::string path = folder.write(name, header);
    std::filesystem::resize_file(path, 4096 * 4096 + 1024);
    return path;
  };
  const auto needed_by = [](const std::string& path) {
    return needed_bytes(base::Descriptor(open(path.c_str(), O_RDONLY)).get());
  };
  const int64_t needed = needed_by(with_header("little.mrc", little));
  EXPECT_GT(needed, 900'000'000);
  EXPECT_LT(needed, 1'100'000'000);
  EXPECT_EQ(needed_by(with_header("big.mrc", big)), needed);
  EXPECT_LT(needed_by(folder.write("no.mrc", "x")), 50'000'000);
  EXPECT_LT(needed_by(folder.write("header_only.mrc", little)), 50'000'000);
}

}  // namespace
}  // namespace scheduler
