#include "base/sha256.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "tests/scratch_folder.h"

namespace base {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kHashOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, OfKnownBytes) {
  const tests::ScratchFolder folder;
  EXPECT_EQ(sha256_of_bytes("abc", 3), kHashOfAbc);
  EXPECT_EQ(sha256_of_text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of_file(folder.write("abc", "abc")), kHashOfAbc);
}

TEST(Sha256, OfAFileLargerThanTheBufferIsThatOfItsBytes) {
  const tests::ScratchFolder folder;
  const std::string bytes((size_t{2} << 20) + 7, 'x');
  EXPECT_EQ(sha256_of_file(folder.write("large", bytes)), sha256_of_text(bytes));
}

TEST(Sha256, OfAnOpenFileIsThatOfAllOfItWhereverItWasRead) {
  const tests::ScratchFolder folder;
  const Descriptor file(::open(folder.write("abc", "abc").c_str(), O_RDONLY));
  ASSERT_EQ(::lseek(file.get(), 2, SEEK_SET), 2);
  EXPECT_EQ(sha256_of_open_file(file.get(), "abc"), kHashOfAbc);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 2);
}

TEST(Sha256, AFileThatCannotBeReadIsNamed) {
  EXPECT_THAT([] { sha256_of_file("/absent/file"); },
              ThrowsMessage<FileError>(HasSubstr("'/absent/file'")));
  EXPECT_THAT([] { sha256_of_file("/"); }, ThrowsMessage<FileError>(HasSubstr("Is a directory")));
}

}  // namespace
}  // namespace base
