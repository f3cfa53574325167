#include "base/untrusted_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "tests/scratch_folder.h"

namespace base {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class UntrustedFile : public testing::Test {
 protected:
  std::string read(const std::string& name, size_t most = 100) const {
    const std::string path = folder_.file(name);
    const auto file = open_untrusted(path);
    return file ? read_whole(*file, most, path) : "absent";
  }
  tests::ScratchFolder folder_;
};

TEST_F(UntrustedFile, ARegularFileIsReadWhole) {
  folder_.write("a", "text");
  EXPECT_EQ(read("a"), "text");
  EXPECT_EQ(read("a", 4), "text");
  EXPECT_EQ(open_untrusted(folder_.file("a"))->size, 4);
}

TEST_F(UntrustedFile, AMissingOneIsAbsentAndOneThatCannotBeReachedIsAnError) {
  EXPECT_EQ(read("none"), "absent");
  folder_.write("a", "");
  EXPECT_THROW(read("a/b"), FileError);
}

TEST_F(UntrustedFile, ALinkIsNotFollowed) {
  folder_.write("secret", "secret");
  std::filesystem::create_symlink(folder_.file("secret"), folder_.file("a"));
  EXPECT_THAT([&] { read("a"); },
              ThrowsMessage<UnfitFile>("'" + folder_.file("a") +
                                       "' is a symbolic link, which is not followed"));
}

TEST_F(UntrustedFile, AFolderOnTheWayMayBeALink) {
  std::filesystem::create_directory(folder_.file("real"));
  folder_.write("real/a", "text");
  std::filesystem::create_directory_symlink(folder_.file("real"), folder_.file("link"));
  EXPECT_EQ(read("link/a"), "text");
}

TEST_F(UntrustedFile, APipeASocketADeviceAndAFolderAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_.file("folder"));
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  folder_.file("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"pipe", "folder", "socket"}) {
    EXPECT_THAT([&] { read(name); }, ThrowsMessage<UnfitFile>(HasSubstr("is not a regular file")))
        << name;
  }
  EXPECT_THROW(open_untrusted("/dev/zero"), UnfitFile);
}

TEST_F(UntrustedFile, MoreThanTheReaderExpectsIsRefusedUnread) {
  folder_.write("a", "12345");
  EXPECT_THAT([&] { read("a", 4); }, ThrowsMessage<UnfitFile>(HasSubstr("is longer than 4 B")));
  folder_.write("sparse", "");
  std::filesystem::resize_file(folder_.file("sparse"), uintmax_t{8} << 30);
  EXPECT_THROW(read("sparse"), UnfitFile);
}

TEST_F(UntrustedFile, OneThatGrowsWhileItIsReadIsRefusedToo) {
  folder_.write("a", "123");
  const auto file = open_untrusted(folder_.file("a"));
  folder_.write("a", "1234567");
  EXPECT_THROW(read_whole(*file, 4, "a"), UnfitFile);
}

TEST_F(UntrustedFile, AFolderThatIsALinkIsRefusedWhereOthersMayPutOne) {
  std::filesystem::create_directory(folder_.file("real"));
  folder_.write("real/a", "text");
  std::filesystem::create_directory_symlink(folder_.file("real"), folder_.file("link"));
  EXPECT_EQ(read_untrusted_in(folder_.file("real"), "a", 10), "text");
  EXPECT_THAT([&] { read_untrusted_in(folder_.file("link"), "a", 10); },
              ThrowsMessage<UnfitFile>(HasSubstr("link' is a symbolic link or no folder")));
  EXPECT_FALSE(read_untrusted_in(folder_.file("none"), "a", 10));
}

TEST_F(UntrustedFile, TheEndOfAFileIsReadAndNothingOfAnAbsentOne) {
  folder_.write("f", "two");
  EXPECT_EQ(read_end_untrusted_in(folder_.path(), "f", 2), "wo");
  EXPECT_EQ(read_end_untrusted_in(folder_.path(), "none", 2), "");
  EXPECT_EQ(read_end_untrusted_in(folder_.file("no folder"), "f", 2), "");
}

TEST_F(UntrustedFile, ANameInAnOpenFolderIsCalledByItsWholePath) {
  folder_.write("a", "text");
  std::filesystem::create_symlink("a", folder_.file("b"));
  const Descriptor open(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(read_whole(*open_untrusted_at(open.get(), "a", "jobs/1/a"), 10, "jobs/1/a"), "text");
  EXPECT_THAT([&] { open_untrusted_at(open.get(), "b", "jobs/1/b"); },
              ThrowsMessage<UnfitFile>(HasSubstr("'jobs/1/b' is a symbolic link")));
}

}  // namespace
}  // namespace base
