// Ranks that find rank 0 by a file that all of them see.
#include "engine/comm/rendezvous_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "engine/comm/acceptor.h"
#include "engine/comm/join.h"
#include "engine/comm/sockets.h"
#include "tests/scratch_folder.h"
#include "tests/unit/engine/comm/rendezvous_cases.h"
#include "tests/wait_until.h"

namespace engine::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(RendezvousFileTest, ComesBackAsItWasWritten) {
  const RendezvousFile rendezvous{.nonce = "a run\nwith \xff",
                                  .host = "node7",
                                  .addresses = {"10.0.0.7", "fd00::7"},
                                  .port = 4711};
  const std::optional<RendezvousFile> back = parse_rendezvous_file(text_of(rendezvous));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->nonce, rendezvous.nonce);
  EXPECT_EQ(back->host, rendezvous.host);
  EXPECT_EQ(back->addresses, rendezvous.addresses);
  EXPECT_EQ(back->port, rendezvous.port);
}

TEST(RendezvousFileTest, IsNothingUntilItIsWhole) {
  const std::string text =
      text_of({.nonce = "run", .host = "node7", .addresses = {"10.0.0.7"}, .port = 4711});
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_rendezvous_file(text.substr(0, length))) << text.substr(0, length);
  }
  EXPECT_FALSE(parse_rendezvous_file("10.0.0.7:4711\n"));
}

class RendezvousByFile : public testing::Test {
 protected:
  Rendezvous place() const { return {.file = scratch / "rendezvous"}; }
  void expect_a_rendezvous() {
    Acceptor acceptor(place(), "run", 2);
    auto rank = joining(place(), "run", 1);
    const std::optional<AcceptedPeer> arrived = acceptor.accept(late());
    ASSERT_TRUE(arrived);
    arrived->connection->send({.kind = 1, .body = {}}, milliseconds(1000));
    EXPECT_EQ(rank.get()->receive(late())->kind, 1u);
  }
  // Of a rank 0 that is dead.
  std::string stale(const std::string& nonce) const {
    return text_of({.nonce = nonce,
                    .host = own_host_name(),
                    .addresses = {"127.0.0.1"},
                    .port = ForeignListener().port()});
  }
  tests::ScratchFolder scratch;
};

TEST_F(RendezvousByFile, NeedsNoAddressAndNoPort) {
  expect_a_rendezvous();
  EXPECT_FALSE(std::filesystem::exists(scratch / "rendezvous"));
}

TEST_F(RendezvousByFile, WaitsForAFileThatAppearsLate) {
  auto rank = joining(place(), "run", 1);
  EXPECT_EQ(rank.wait_for(milliseconds(100)), std::future_status::timeout);
  Acceptor acceptor(place(), "run", 2);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

// By which a network file system forgets that the file was not there.
TEST_F(RendezvousByFile, ChangesTheFolderAndLeavesNothingWhereTheFileIsNotSeen) {
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(scratch.path(), long_ago);
  EXPECT_THAT(why_not(place(), "run", 1, shortly()), HasSubstr("is not there"));
  EXPECT_GT(std::filesystem::last_write_time(scratch.path()), long_ago + std::chrono::minutes(1));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST_F(RendezvousByFile, WaitsWhereTheFolderIsNotThereYet) {
  const Rendezvous later{.file = scratch / "folder/rendezvous"};
  auto rank = joining(later, "run", 1);
  EXPECT_EQ(rank.wait_for(milliseconds(100)), std::future_status::timeout);
  std::filesystem::create_directory(scratch / "folder");
  Acceptor acceptor(later, "run", 2);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

TEST_F(RendezvousByFile, IsNotMisledByTheFileOfAnEarlierAttempt) {
  for (const std::string nonce : {"earlier", "run"}) {
    scratch.write("rendezvous", stale(nonce));
    auto rank = joining(place(), "run", 1);
    EXPECT_EQ(rank.wait_for(milliseconds(100)), std::future_status::timeout);
    Acceptor acceptor(place(), "run", 2);
    EXPECT_TRUE(acceptor.accept(late()));
    EXPECT_TRUE(rank.get());
  }
}

TEST_F(RendezvousByFile, IsNotMisledByTheFileOfAnEarlierAttemptThatStillListens) {
  ServedAcceptor earlier(at("", 0), "earlier", 2);
  scratch.write("rendezvous", text_of({.nonce = "run",
                                       .host = own_host_name(),
                                       .addresses = {"127.0.0.1"},
                                       .port = earlier.acceptor.port()}));
  EXPECT_TRUE(reports_in_the_end(place(), "run", "another run"));
  EXPECT_THAT(earlier.ranks(), testing::IsEmpty());
}

TEST_F(RendezvousByFile, WaitsForTheRestOfAFile) {
  const std::string text = stale("run");
  scratch.write("rendezvous", text.substr(0, text.size() / 2));
  EXPECT_THAT(why_not(place(), "run", 1, shortly()), HasSubstr("is not whole"));
  expect_a_rendezvous();
}

TEST_F(RendezvousByFile, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(why_not(place(), "run", 1, shortly()),
              AllOf(HasSubstr(scratch / "rendezvous"), HasSubstr("is not there")));
  scratch.write("rendezvous", stale("earlier"));
  EXPECT_THAT(why_not(place(), "run", 1, shortly()), HasSubstr("earlier attempt's"));
}

TEST_F(RendezvousByFile, LeavesTheFileOfTheNextAttempt) {
  const std::string next = stale("next");
  {
    Acceptor acceptor(place(), "run", 2);
    scratch.write("rendezvous", next);
  }
  EXPECT_EQ(tests::text_of(scratch / "rendezvous"), next);
}

TEST_F(RendezvousByFile, SaysThatTheFileCannotBeWritten) {
  scratch.write("folder", "a file");
  try {
    Acceptor acceptor({.file = scratch / "folder/rendezvous"}, "run", 2);
    FAIL() << "written into what is no folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("folder"));
  }
}

}  // namespace
}  // namespace engine::comm
