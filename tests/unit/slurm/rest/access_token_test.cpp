#include "slurm/rest/access_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "tests/scratch_folder.h"
#include "tests/unit/slurm/rest/tokens.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

class TokenFileTest : public testing::Test {
 protected:
  void write(const std::string& text) const { folder_.write("token", text); }
  // Of a file that was written by then, whatever the clock's steps are.
  void set_time(int64_t seconds) const {
    fs::last_write_time(path_, fs::file_time_type(std::chrono::seconds(seconds)));
  }
  auto failure(const std::string& what) {
    return ThrowsMessage<std::runtime_error>(AllOf(HasSubstr(path_), HasSubstr(what)));
  }

  tests::ScratchFolder folder_;
  const std::string path_ = folder_ / "token";
  TokenFile file_{path_};
};

TEST_F(TokenFileTest, TheTokenIsWhatTheFileHolds) {
  write("aaa.bbb.ccc");
  EXPECT_EQ(file_.token(), "aaa.bbb.ccc");
}

TEST_F(TokenFileTest, WhatScontrolPrintsIsUnderstood) {
  write("SLURM_JWT=aaa.bbb.ccc\n");
  EXPECT_EQ(file_.token(), "aaa.bbb.ccc");
}

TEST_F(TokenFileTest, BlanksAndLineEndsAroundItDoNotMatter) {
  write("\n  aaa.bbb.ccc \r\n\n");
  EXPECT_EQ(file_.token(), "aaa.bbb.ccc");
}

TEST_F(TokenFileTest, AFileWrittenAnewIsReadAgain) {
  write("one");
  set_time(1);
  EXPECT_EQ(file_.token(), "one");
  write("two");
  set_time(2);
  EXPECT_EQ(file_.token(), "two");
}

TEST_F(TokenFileTest, ANewLengthOfTheSameTimeIsSeen) {
  write("one");
  set_time(1);
  file_.token();
  write("longer");
  set_time(1);
  EXPECT_EQ(file_.token(), "longer");
}

TEST_F(TokenFileTest, AFileRenamedIntoPlaceIsSeenAlthoughTimeAndLengthAreTheSame) {
  write("one");
  set_time(1);
  file_.token();
  const std::string next = folder_.write("next", "two");
  fs::last_write_time(next, fs::last_write_time(path_));
  fs::rename(next, path_);
  EXPECT_EQ(file_.token(), "two");
}

TEST_F(TokenFileTest, ALinkTurnedToAnotherFileIsFollowed) {
  fs::create_symlink(folder_.write("first", "one"), path_);
  fs::create_symlink(folder_.write("second", "two"), folder_ / "link");
  fs::last_write_time(folder_ / "second", fs::last_write_time(folder_ / "first"));
  EXPECT_EQ(file_.token(), "one");
  fs::rename(folder_ / "link", path_);
  EXPECT_EQ(file_.token(), "two");
}

TEST_F(TokenFileTest, AnUnchangedFileIsReadAgainOnlyWhenDistrusted) {
  write("one");
  set_time(1);
  file_.token();
  write("two");
  set_time(1);  // the same file, length and time
  EXPECT_EQ(file_.token(), "one");
  file_.distrust();
  EXPECT_EQ(file_.token(), "two");
}

TEST_F(TokenFileTest, AMissingFileIsNamed) {
  EXPECT_THAT([&] { file_.token(); }, failure("is not there"));
}

TEST_F(TokenFileTest, AMissingFileIsReadWhenItComes) {
  EXPECT_THROW(file_.token(), std::runtime_error);
  write("one");
  EXPECT_EQ(file_.token(), "one");
}

TEST_F(TokenFileTest, AFileThatWentAwayIsNotRemembered) {
  write("one");
  file_.token();
  fs::remove(path_);
  EXPECT_THAT([&] { file_.token(); }, failure("is not there"));
}

TEST_F(TokenFileTest, AnEmptyFileIsNamed) {
  for (const char* text : {"", "\n", "  \n"}) {
    write(text);
    EXPECT_THAT([&] { file_.token(); }, failure("is empty"));
  }
}

TEST_F(TokenFileTest, SeveralLinesAreRefusedWithoutShowingThem) {
  write("secret.one.x\nsecret.two.x\n");
  EXPECT_THAT([&] { file_.token(); }, failure("more than one line"));
  EXPECT_THAT([&] { file_.token(); }, ThrowsMessage<std::runtime_error>(Not(HasSubstr("secret"))));
}

TEST_F(TokenFileTest, WordsThatAreNoTokenAreRefusedWithoutShowingThem) {
  for (const char* text : {"secret words", "SLURM_JWT=", "secret\x01", "secr\xC3\xA9t"}) {
    write(text);
    EXPECT_THAT([&] { file_.token(); }, failure("does not hold a JSON Web Token"));
    EXPECT_THAT([&] { file_.token(); }, ThrowsMessage<std::runtime_error>(Not(HasSubstr("secr"))));
  }
}

TEST_F(TokenFileTest, AFolderOrAPipeIsNoTokenFile) {
  fs::create_directory(path_);
  EXPECT_THAT([&] { file_.token(); }, failure("plain file"));
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT([&] { file_.token(); }, failure("plain file"));
}

TEST_F(TokenFileTest, AFileThatMayNotBeReadIsNamed) {
  write("one");
  fs::permissions(path_, fs::perms::none);
  const bool root = ::geteuid() == 0;  // who may read everything
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(root ? ::seteuid(kNobody) : 0, 0);
  EXPECT_THAT([&] { file_.token(); }, failure("Permission denied"));
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
}

TEST_F(TokenFileTest, AHugeFileIsNotReadToItsEnd) {
  write(std::string(1 << 20, 'x'));
  EXPECT_THAT([&] { file_.token(); }, failure("too long"));
}

TEST(TokenFactsTest, EndAndUserAreRead) {
  const auto facts = read_token_facts(token_of("alice", 1718107200));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->expires, 1718107200);
  EXPECT_EQ(facts->user, "alice");
}

TEST(TokenFactsTest, EveryLengthOfBase64IsRead) {
  for (int length = 1; length < 12; ++length) {
    const std::string user(static_cast<size_t>(length), 'u');
    const auto facts = read_token_facts(token_of(user, 5));
    ASSERT_TRUE(facts) << length;
    EXPECT_EQ(facts->user, user);
  }
}

TEST(TokenFactsTest, LettersOfTheUrlAlphabetAreRead) {
  // "?>~" and the like give '-' and '_'.
  const std::string user = "\xC3\xBF\xC3\xBE?>~";
  const std::string token = token_of(user, 5);
  EXPECT_NE(token.find_first_of("-_"), token.npos);
  ASSERT_TRUE(read_token_facts(token));
  EXPECT_EQ(read_token_facts(token)->user, user);
}

TEST(TokenFactsTest, ATokenWithoutEndOrUserIsOneStill) {
  const auto facts = read_token_facts(token_of("{}"));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->expires, std::nullopt);
  EXPECT_EQ(facts->user, "");
}

TEST(TokenFactsTest, AnEndMayBeAFractionOrBeyondAnyClock) {
  EXPECT_EQ(read_token_facts(token_of("{\"exp\":1718107200.5}"))->expires, 1718107200);
  EXPECT_GT(read_token_facts(token_of("{\"exp\":1e300}"))->expires, 1718107200);
  EXPECT_EQ(read_token_facts(token_of("{\"exp\":-1e300}"))->expires, 0);
}

TEST(TokenFactsTest, WhatIsNoTokenHasNoFacts) {
  for (const std::string& text :
       {std::string("word"), std::string("a.b"), std::string("a.*.c"), std::string("a..c"),
        "a." + base64url("[1]") + ".c", "a." + base64url("{\"exp\":") + ".c"}) {
    EXPECT_FALSE(read_token_facts(text)) << text;
  }
}

}  // namespace
}  // namespace slurm
