// Ranks that find rank 0 of their own run, and unauthenticated peers that find it, too.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <list>
#include <thread>

#include "engine/comm/acceptor.h"
#include "engine/comm/framing.h"
#include "engine/comm/handshake.h"
#include "engine/comm/join.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"
#include "tests/scratch_folder.h"
#include "tests/unit/engine/comm/connect.h"
#include "tests/unit/engine/comm/rendezvous_cases.h"
#include "tests/wait_until.h"

namespace engine::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Descriptor unauthenticated_peer(int port) {
  Descriptor socket = tests::connect_to("127.0.0.1", port);
  EXPECT_TRUE(socket);
  return socket;
}

void say(const Descriptor& socket, const std::string& bytes) {
  EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(Rendezvous, ConnectsAllRanksAndEachConnectionWorksBothWays) {
  Acceptor acceptor(at("", 0), "run", 5);
  std::vector<Joining> ranks;
  for (int rank = 1; rank < 5; ++rank) {
    ranks.push_back(joining(at("localhost", acceptor.port()), "run", rank));
  }
  std::vector<AcceptedPeer> arrived;
  for (int i = 0; i < 4; ++i) {
    std::optional<AcceptedPeer> one = acceptor.accept(late());
    ASSERT_TRUE(one);
    EXPECT_EQ(one->host, own_host_name());
    EXPECT_THAT(one->connection->peer(), HasSubstr("rank " + std::to_string(one->rank) + " on "));
    one->connection->send({.kind = 40u + static_cast<uint32_t>(one->rank), .body = {}},
                          milliseconds(1000));
    arrived.push_back(std::move(*one));
  }
  for (int rank = 1; rank < 5; ++rank) {
    const auto connection = ranks[static_cast<size_t>(rank - 1)].get();
    EXPECT_EQ(connection->receive(late())->kind, 40u + static_cast<uint32_t>(rank));
    EXPECT_THAT(connection->peer(), HasSubstr("rank 0 on "));
    connection->send({.kind = static_cast<uint32_t>(rank), .body = {}}, milliseconds(1000));
  }
  for (const AcceptedPeer& one : arrived) {
    EXPECT_EQ(one.connection->receive(late())->kind, static_cast<uint32_t>(one.rank));
  }
}

TEST(Rendezvous, WorksByIpv4AndIpv6AndSaysTheAddressOfThisSide) {
  Acceptor acceptor(at("", 0), "run", 3);
  auto four = joining(at("127.0.0.1", acceptor.port()), "run", 1);
  const std::optional<AcceptedPeer> first = acceptor.accept(late());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->connection->local_address(), "127.0.0.1");
  EXPECT_EQ(four.get()->local_address(), "127.0.0.1");
  if (!tests::connect_to("::1", acceptor.port())) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  auto six = joining(at("::1", acceptor.port()), "run", 2);
  const std::optional<AcceptedPeer> second = acceptor.accept(late());
  ASSERT_TRUE(second);
  EXPECT_EQ(second->connection->local_address(), "::1");
  EXPECT_EQ(six.get()->local_address(), "::1");
}

TEST(Rendezvous, WaitsForARankZeroThatComesLater) {
  const int port = ForeignListener().port();  // free again
  auto rank = joining(at("127.0.0.1", port), "run", 1);
  EXPECT_EQ(rank.wait_for(milliseconds(50)), std::future_status::timeout);
  Acceptor acceptor(at("", port), "run", 2);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

TEST(Rendezvous, AcceptsARankThatRankZeroHadNoTimeForAtFirst) {
  Acceptor acceptor(at("", 0), "run", 2);
  auto rank = joining(at("127.0.0.1", acceptor.port()), "run", 1);
  // Longer than the first attempts: the connections that they gave up are still pending.
  EXPECT_EQ(rank.wait_for(milliseconds(700)), std::future_status::timeout);
  const std::optional<AcceptedPeer> arrived = acceptor.accept(late());
  ASSERT_TRUE(arrived);
  arrived->connection->send({.kind = 9, .body = {}}, milliseconds(1000));
  EXPECT_EQ(rank.get()->receive(late())->kind, 9u);
}

TEST(Rendezvous, HasNobodyAtTheDeadline) {
  Acceptor acceptor(at("", 0), "run", 2);
  EXPECT_FALSE(acceptor.accept(steady_clock::now()));
  EXPECT_FALSE(acceptor.accept(steady_clock::now() + milliseconds(5)));
}

TEST(Rendezvous, IsNotHeldUpByUnauthenticatedPeers) {
  Acceptor acceptor(at("", 0), "run", 2);
  std::vector<Descriptor> peers;
  const auto one_that_says = [&](const std::string& bytes) {
    peers.push_back(unauthenticated_peer(acceptor.port()));
    say(peers.back(), bytes);
  };
  for (int i = 0; i < 20; ++i) one_that_says("");
  one_that_says("GET / HTTP/1.1\r\nHost: node7\r\n\r\n");
  one_that_says(std::string(10'000, '\0'));
  one_that_says(std::string(10'000, '\xff'));
  const std::vector<std::byte> hello = encode_frame(message_of(Hello{.rank = 1, .nonce = "run"}));
  one_that_says({reinterpret_cast<const char*>(hello.data()), hello.size() / 2});
  Message damaged = message_of(Hello{.rank = 1, .nonce = "run"});
  damaged.body.pop_back();
  const std::vector<std::byte> bytes = encode_frame(damaged);
  one_that_says({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto rank = joining(at("127.0.0.1", acceptor.port()), "run", 1);
  const std::optional<AcceptedPeer> arrived = acceptor.accept(late());
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->rank, 1);
  EXPECT_TRUE(rank.get());
  EXPECT_FALSE(acceptor.accept(steady_clock::now()));
}

// A rank that is welcomed and then forgotten takes itself for connected, and is never met.
TEST(Rendezvous, KeepsARankWhoseHandshakeASuspensionInterrupts) {
  Acceptor acceptor(at("", 0), "run", 2);
  const Descriptor rank = unauthenticated_peer(acceptor.port());
  EXPECT_FALSE(acceptor.accept(steady_clock::now() + milliseconds(100)));
  const auto say_message = [&](const Message& message) {
    const std::vector<std::byte> bytes = encode_frame(message);
    say(rank, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  say_message(message_of(Hello{.rank = 1, .nonce = "run"}));
  // Longer than a handshake may take, and nobody looks meanwhile.
  std::this_thread::sleep_for(milliseconds(5200));
  EXPECT_FALSE(acceptor.accept(steady_clock::now() + milliseconds(100)));
  say_message(confirmation());
  const std::optional<AcceptedPeer> arrived =
      acceptor.accept(steady_clock::now() + std::chrono::seconds(4));
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->rank, 1);
}

TEST(Rendezvous, IsNotHeldUpByMoreSilentPeersThanItListensTo) {
  Acceptor acceptor(at("", 0), "run", 2);
  std::vector<Descriptor> peers;
  for (int i = 0; i < 300; ++i) peers.push_back(unauthenticated_peer(acceptor.port()));
  auto rank = joining(at("127.0.0.1", acceptor.port()), "run", 1);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

TEST(Rendezvous, RejectsARankOfAnotherRunAndSaysSo) {
  ServedAcceptor open(at("", 0), "run", 2);
  EXPECT_TRUE(reports_in_the_end(at("127.0.0.1", open.acceptor.port()), "earlier", "another run"));
  EXPECT_THAT(open.ranks(), testing::IsEmpty());
}

TEST(Rendezvous, RejectsARankThatHasArrivedBefore) {
  ServedAcceptor open(at("", 0), "run", 3);
  const auto first = join(at("127.0.0.1", open.acceptor.port()), "run", 2, for_long());
  EXPECT_THAT(why_not(at("127.0.0.1", open.acceptor.port()), "run", 2, for_long()),
              HasSubstr("arrived before"));
  EXPECT_TRUE(tests::becomes_true([&] { return open.ranks() == std::vector<int>{2}; }));
}

TEST(Rendezvous, RejectsARankThatIsOutOfRange) {
  ServedAcceptor open(at("", 0), "run", 3);
  for (const int rank : {0, 3, -1}) {
    EXPECT_THAT(why_not(at("127.0.0.1", open.acceptor.port()), "run", rank, for_long()),
                HasSubstr("waits for the ranks 1 to 2"));
  }
  EXPECT_THAT(open.ranks(), testing::IsEmpty());
}

TEST(Rendezvous, TakesTheNextPortAndIsFoundThere) {
  const ForeignListener other;
  Acceptor acceptor(at("", other.port(), 20), "run", 2);
  EXPECT_NE(acceptor.port(), other.port());
  auto rank = joining(at("127.0.0.1", other.port(), 20), "run", 1);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

TEST(Rendezvous, PassesByTheRankZeroOfAnotherRun) {
  ServedAcceptor other(at("", 0), "another", 2);
  Acceptor acceptor(at("", other.acceptor.port(), 20), "run", 2);
  auto rank = joining(at("127.0.0.1", other.acceptor.port(), 20), "run", 1);
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
  EXPECT_THAT(other.ranks(), testing::IsEmpty());
}

TEST(Rendezvous, SaysThatNoPortIsFree) {
  const ForeignListener other;
  try {
    Acceptor acceptor(at("", other.port()), "run", 2);
    FAIL() << "two listen at one port";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(other.port())));
  }
}

TEST(Rendezvous, SaysWhatItMetWhereNoRankZeroIs) {
  const int free = ForeignListener().port();
  EXPECT_THAT(why_not(at("127.0.0.1", free), "run", 1, shortly()),
              AllOf(HasSubstr("127.0.0.1 port " + std::to_string(free)), HasSubstr("refused")));
  const ForeignListener silent;
  EXPECT_THAT(why_not(at("127.0.0.1", silent.port()), "run", 1, shortly()),
              HasSubstr("does not answer"));
}

TEST(Rendezvous, SaysOfManyPortsOnlyOnceWhatItMet) {
  // Of the system's own, where nothing listens.
  EXPECT_THAT(why_not(at("127.0.0.1", 2, 4), "run", 1, shortly()),
              HasSubstr("127.0.0.1 ports 2 to 5: Connection refused; check"));
}

// What lets connections in and then says nothing, more often than there is time to try one by one.
TEST(Rendezvous, IsNotHeldUpByPlacesThatDoNotAnswer) {
  std::list<ForeignListener> silent(1);
  const int first = silent.front().port();
  int last = first;
  for (int port = first + 1; port < first + 60; ++port) {
    Descriptor socket = listen_at(port);
    if (!socket) continue;
    silent.emplace_back(std::move(socket));
    last = port;
  }
  silent.pop_back();
  Acceptor acceptor(at("", last), "run", 2);
  auto rank = std::async(std::launch::async, [&] {
    return join(at("127.0.0.1", first, last - first + 1), "run", 1,
                Timeout(std::chrono::seconds(10)));
  });
  EXPECT_TRUE(acceptor.accept(late()));
  EXPECT_TRUE(rank.get());
}

TEST(Rendezvous, FindsWhichOfSeveralAddressesIsRankZeros) {
  Acceptor acceptor(at("", 0), "run", 2);
  auto rank = std::async(std::launch::async, [&] {
    return join({"240.0.0.1", "127.0.1.1", "127.0.0.1"}, acceptor.port(), "run", 1, for_long());
  });
  const std::optional<AcceptedPeer> arrived = acceptor.accept(late());
  ASSERT_TRUE(arrived);
  arrived->connection->send({.kind = 5, .body = {}}, milliseconds(1000));
  EXPECT_EQ(rank.get()->receive(late())->kind, 5u);
}

TEST(Rendezvous, IsGivenUpWhenItIsCancelled) {
  const ForeignListener silent;
  std::atomic<int> asked = 0;
  EXPECT_THAT(why_not(at("127.0.0.1", silent.port()), "run", 1,
                      Timeout(std::chrono::hours(1), [&] { return ++asked > 3; })),
              HasSubstr("does not find"));
}

// What answers with something else than a rank 0.
TEST(Rendezvous, DoesNotTakeAnotherServiceForRankZero) {
  const ForeignListener other;
  std::atomic<bool> done{false};
  std::thread service([&] {
    while (!done) {
      if (!wait_for_events(other.socket.get(), POLLIN, steady_clock::now() + milliseconds(10))) {
        continue;
      }
      const Descriptor connecting(::accept(other.socket.get(), nullptr, nullptr));
      say(connecting, "SSH-2.0-OpenSSH_9.2p1 Debian\r\n");
    }
  });
  EXPECT_TRUE(reports_in_the_end(at("127.0.0.1", other.port()), "run", "something else"));
  done = true;
  service.join();
}

}  // namespace
}  // namespace engine::comm
