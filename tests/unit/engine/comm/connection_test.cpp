// Messages between two ranks, whatever becomes of the connection.
#include "engine/comm/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <thread>

namespace engine::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr milliseconds kTimeout{60'000};

// For what comes for certain.
Deadline late() { return steady_clock::now() + std::chrono::minutes(2); }

Message message(uint32_t kind, size_t length) {
  Message one{.kind = kind, .body = std::vector<std::byte>(length)};
  for (size_t i = 0; i < length; ++i) one.body[i] = static_cast<std::byte>(i * 31 + kind);
  return one;
}

struct Pair {
  Pair() {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) throw std::runtime_error("no sockets");
    here = std::make_unique<Connection>(sockets[0], "rank 1 on there");
    there = std::make_unique<Connection>(sockets[1], "rank 0 on here");
  }
  int sockets[2];
  std::unique_ptr<Connection> here, there;
};

std::string how_lost(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConnectionLost& lost) {
    return lost.what();
  }
  return "not lost";
}

TEST(Connection, CarriesMessagesWholeAndInOrder) {
  Pair pair;
  for (uint32_t kind = 0; kind < 20; ++kind) pair.here->send(message(kind, kind * 7), kTimeout);
  for (uint32_t kind = 0; kind < 20; ++kind) {
    const std::optional<Message> got = pair.there->receive(late());
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, kind);
    EXPECT_EQ(got->body, message(kind, kind * 7).body);
  }
}

TEST(Connection, CarriesALargeMessageWhileAnotherGoesTheOtherWay) {
  Pair pair;
  const Message large = message(5, (size_t{2} << 20) + 3);
  auto there = std::async(std::launch::async, [&] {
    pair.there->send(large, kTimeout);
    return pair.there->receive(late());
  });
  auto sent = std::async(std::launch::async, [&] { pair.here->send(large, kTimeout); });
  const std::optional<Message> got = pair.here->receive(late());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, large.body);
  sent.get();
  EXPECT_EQ(there.get()->body, large.body);
}

TEST(Connection, KeepsTheMessagesOfTwoSendersApart) {
  Pair pair;
  const auto send_ten = [&](uint32_t kind) {
    return std::async(std::launch::async, [&pair, kind] {
      for (int i = 0; i < 10; ++i) pair.here->send(message(kind, 40'000), kTimeout);
    });
  };
  auto first = send_ten(1), second = send_ten(2);
  for (int i = 0; i < 20; ++i) {
    const std::optional<Message> got = pair.there->receive(late());
    ASSERT_TRUE(got);
    EXPECT_EQ(got->body, message(got->kind, 40'000).body);
  }
  first.get();
  second.get();
}

TEST(Connection, HasNothingAtTheDeadlineWhenNobodySpeaks) {
  Pair pair;
  EXPECT_FALSE(pair.here->receive(steady_clock::now()));
  EXPECT_FALSE(pair.here->receive(steady_clock::now() + milliseconds(1)));
}

TEST(Connection, KeepsWhatHasComeOfAMessageUntilTheRestComes) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  Connection connection(sockets[0], "rank 1");
  const unsigned char frame[] = {7, 0, 0, 0, 2, 0, 0, 0, 0x61, 0x62};
  for (size_t i = 0; i + 1 < sizeof frame; ++i) {
    ASSERT_EQ(::send(sockets[1], frame + i, 1, 0), 1);
    EXPECT_FALSE(connection.receive(steady_clock::now()));
  }
  ASSERT_EQ(::send(sockets[1], frame + sizeof frame - 1, 1, 0), 1);
  const std::optional<Message> got = connection.receive(late());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, 7u);
  EXPECT_EQ(got->body, (std::vector{std::byte{0x61}, std::byte{0x62}}));
  ::close(sockets[1]);
}

TEST(Connection, IsLostWhenTheOtherSideGoesAwayAndNotBeforeItsLastMessage) {
  Pair pair;
  pair.there->send(message(3, 10), kTimeout);
  pair.there.reset();
  const std::optional<Message> last = pair.here->receive(late());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->kind, 3u);
  EXPECT_THAT(how_lost([&] { pair.here->receive(late()); }), HasSubstr("rank 1 on there"));
  EXPECT_THAT(how_lost([&] { pair.here->send(message(1, 1), kTimeout); }),
              HasSubstr("rank 1 on there"));
}

TEST(Connection, DeliversItsLastMessageAlthoughItLeavesOthersUnread) {
  Pair pair;
  for (int i = 0; i < 5; ++i) pair.here->send(message(1, 1000), kTimeout);
  pair.there->send(message(3, 10), kTimeout);
  pair.there.reset();
  const std::optional<Message> last = pair.here->receive(late());
  ASSERT_TRUE(last);
  EXPECT_EQ(last->kind, 3u);
}

TEST(Connection, IsLostWithinAMessageWhoseEndNeverComes) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  Connection connection(sockets[0], "rank 1");
  ASSERT_EQ(::send(sockets[1], "\1\0\0\0\4\0\0\0ab", 10, 0), 10);
  ::close(sockets[1]);
  EXPECT_THAT(how_lost([&] { connection.receive(late()); }), HasSubstr("closed"));
}

TEST(Connection, IsLostWhenTheOtherSideTakesNothingAnyMore) {
  Pair pair;
  const Message zeros{.kind = 1, .body = std::vector<std::byte>(size_t{1} << 20)};
  const std::string how = how_lost([&] {
    for (int i = 0; i < 100; ++i) pair.here->send(zeros, milliseconds(50));
  });
  EXPECT_THAT(how, HasSubstr("takes nothing"));
  // The end of the message that was begun is missing for ever.
  EXPECT_THAT(how_lost([&] { pair.here->send(message(1, 1), kTimeout); }),
              HasSubstr("takes nothing"));
}

TEST(Connection, TakesNoMessageThatIsLongerThanAnyRankSends) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  Connection connection(sockets[0], "rank 1");
  ASSERT_EQ(::send(sockets[1], "GET / HTTP/1.1\r\n", 16, 0), 16);
  EXPECT_THAT(how_lost([&] { connection.receive(late()); }), HasSubstr("no message of a rank"));
  ::close(sockets[1]);
}

TEST(Connection, WakesWhoWaitsForAMessageWhenItIsShut) {
  Pair pair;
  auto waiting =
      std::async(std::launch::async, [&] { return how_lost([&] { pair.here->receive(late()); }); });
  pair.here->shut_down();
  EXPECT_THAT(waiting.get(), HasSubstr("ended here"));
  EXPECT_THAT(how_lost([&] { pair.here->send(message(1, 1), kTimeout); }), HasSubstr("ended here"));
}

TEST(Connection, WakesWhoWaitsForRoomToSendWhenItIsShut) {
  Pair pair;
  auto waiting = std::async(std::launch::async, [&] {
    const Message zeros{.kind = 1, .body = std::vector<std::byte>(size_t{16} << 20)};
    return how_lost([&] { pair.here->send(zeros, kTimeout); });
  });
  ASSERT_FALSE(pair.there->receive(steady_clock::now() + milliseconds(1)));
  pair.here->shut_down();
  EXPECT_THAT(waiting.get(), HasSubstr("ended here"));
}

}  // namespace
}  // namespace engine::comm
