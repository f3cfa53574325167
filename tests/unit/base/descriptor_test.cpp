#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "tests/scratch_folder.h"

namespace base {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

TEST(Descriptor, ClosesWhatItOwnsAndLeavesErrnoAlone) {
  int number = -1;
  {
    const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(file);
    number = file.get();
    errno = EPERM;
  }
  EXPECT_EQ(errno, EPERM);
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, IsMovedAndNeverClosedTwice) {
  Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor second(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int kept = first.get();
  const int replaced = second.get();
  second = std::move(first);
  EXPECT_EQ(second.get(), kept);
  EXPECT_TRUE(is_open(kept));
  EXPECT_FALSE(is_open(replaced));
  const Descriptor third(std::move(second));
  EXPECT_EQ(third.get(), kept);
  EXPECT_TRUE(is_open(kept));
}

TEST(Descriptor, CloseTellsOfAFault) {
  Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(file.close(), 0);
  EXPECT_FALSE(file);
  Descriptor none;
  EXPECT_EQ(none.close(), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(ReadAndWrite, AllBytesComeThroughAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  EXPECT_TRUE(write_all(in.get(), std::string("a\0b", 3)));
  EXPECT_EQ(in.close(), 0);
  EXPECT_EQ(read_all(out.get()), std::string("a\0b", 3));
  EXPECT_FALSE(write_all(out.get(), "x"));
  EXPECT_EQ(errno, EBADF);
}

TEST(ReadAndWrite, NoMoreIsReadThanWasAskedFor) {
  const tests::ScratchFolder folder;
  const Descriptor file(::open(folder.write("f", "12345").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(read_all(file.get(), 2), "12");
  EXPECT_EQ(read_all(file.get()), "345");
  EXPECT_EQ(read_all(-1), std::nullopt);
}

TEST(ReadFile, AnAbsentFileIsNothingAndAnotherFaultIsNamed) {
  const tests::ScratchFolder folder;
  EXPECT_EQ(read_file(folder.write("f", "text")), "text");
  EXPECT_EQ(read_file(folder.file("none")), std::nullopt);
  const Descriptor opened(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(read_file_at(opened.get(), "f"), "text");
  EXPECT_EQ(read_file_at(opened.get(), "none"), std::nullopt);
  try {
    read_file(folder.path());
    FAIL() << "a folder was read";
  } catch (const FileError& error) {
    EXPECT_EQ(error.code(), std::errc::is_a_directory);
    EXPECT_EQ(error.what(), "cannot read '" + folder.path() + "': Is a directory");
  }
}

}  // namespace
}  // namespace base
