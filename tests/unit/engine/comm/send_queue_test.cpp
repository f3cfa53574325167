// Messages that wait for a peer, and a peer that does not read them.
#include "engine/comm/send_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <memory>

namespace engine::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr milliseconds kLong{60'000};

Message sized_message(uint32_t kind, size_t length) {
  return {.kind = kind, .body = std::vector<std::byte>(length)};
}

class SendQueueTest : public testing::Test {
 protected:
  SendQueueTest() {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) throw std::runtime_error("no sockets");
    here = std::make_unique<Connection>(sockets[0], "rank 1 on there");
    there = std::make_unique<Connection>(sockets[1], "rank 0 on here");
  }

  static std::optional<Message> next(Connection& connection) {
    return connection.receive(steady_clock::now() + kLong);
  }
  std::string why_lost() const {
    try {
      (void)next(*here);
    } catch (const ConnectionLost& lost) {
      return lost.what();
    }
    return "not lost";
  }

  std::unique_ptr<Connection> here, there;
};

TEST_F(SendQueueTest, SendsInOrder) {
  SendQueue queue(*here, kLong);
  for (uint32_t kind = 0; kind < 50; ++kind) queue.push(sized_message(kind, 10'000));
  for (uint32_t kind = 0; kind < 50; ++kind) EXPECT_EQ(next(*there)->kind, kind);
}

TEST_F(SendQueueTest, LosesAPeerThatTakesNothingForTheTimeout) {
  SendQueue queue(*here, milliseconds(50));
  for (int i = 0; i < 8; ++i) queue.push(sized_message(1, size_t{1} << 20));
  EXPECT_THAT(why_lost(), HasSubstr("rank 1 on there is lost: it takes nothing any more"));
}

TEST_F(SendQueueTest, LosesAPeerForWhichTooMuchWaits) {
  SendQueue queue(*here, kLong, size_t{4} << 20);
  for (int i = 0; i < 8; ++i) queue.push(sized_message(1, size_t{1} << 20));
  EXPECT_THAT(why_lost(), HasSubstr("more than 4.2 MB wait"));
}

TEST_F(SendQueueTest, SendsOneMessageThatIsLongerThanTheLimit) {
  SendQueue queue(*here, kLong, 1000);
  queue.push(sized_message(1, 500'000));
  EXPECT_EQ(next(*there)->body.size(), 500'000u);
}

TEST_F(SendQueueTest, SendsNoHeartbeatWhereOthersWait) {
  SendQueue queue(*here, kLong);
  queue.push(sized_message(1, size_t{4} << 20));  // waits until it is read
  queue.push_if_idle(sized_message(2, 0));
  queue.push(sized_message(3, 0));
  EXPECT_EQ(next(*there)->kind, 1u);
  EXPECT_EQ(next(*there)->kind, 3u);
}

TEST_F(SendQueueTest, LeavesThePeersLastMessagesToBeReceived) {
  SendQueue queue(*here, kLong);
  there->send(sized_message(7, 10), kLong);
  there.reset();
  for (int i = 0; i < 8; ++i) queue.push(sized_message(1, size_t{1} << 20));
  EXPECT_EQ(next(*here)->kind, 7u);
  EXPECT_THAT(why_lost(), HasSubstr("rank 1 on there is lost"));
}

TEST_F(SendQueueTest, EndsAlthoughThePeerReadsNothing) {
  auto queue = std::make_unique<SendQueue>(*here, kLong);
  for (int i = 0; i < 8; ++i) queue->push(sized_message(1, size_t{1} << 20));
  queue.reset();
  EXPECT_THAT(why_lost(), HasSubstr("ended here"));
}

}  // namespace
}  // namespace engine::comm
