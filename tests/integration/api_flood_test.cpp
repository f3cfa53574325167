// One user's clients, as many and as slow as can be, against a real margayd that others use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <iostream>

#include "scheduler/http/http_client.h"
#include "scheduler/http/unix_socket.h"
#include "tests/as_nobody.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using scheduler::api::connect_to;
using scheduler::api::Descriptor;
using scheduler::api::HttpClient;
using std::chrono::seconds;

class ApiFlood : public testing::Test {
 protected:
  ApiFlood() : queue_(QueueOptions{.site = "socket_group: nogroup\n"}) {}

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    queue_.start_daemon();
    ::chmod(queue_.folder().path().c_str(), 0711);
    ::chmod((queue_.folder() / "state").c_str(), 0711);
  }

  // Connections of `nobody` that have sent `bytes` and do nothing else.
  std::vector<Descriptor> flood(int count, const std::string& bytes) const {
    std::vector<Descriptor> connections;
    as_nobody([&] {
      for (int i = 0; i < count; ++i) {
        connections.push_back(connect_to(socket_, seconds(60)));
        ::send(connections.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }
    });
    return connections;
  }

  void expect_status_within_a_second() const {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(HttpClient(socket_, seconds(60)).call({.target = "/v1/status"}).status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(1));
  }

  void expect_little_memory() const {
    std::cout << "says|margayd took at most " << queue_.most_memory_kb() / 1024 << " MiB"
              << std::endl;
    if (kTrueMemory) {
      EXPECT_LT(queue_.most_memory_kb(), kMostMemoryKb);
    }
  }

  QueueAtWork queue_;
  const std::string socket_ = queue_.folder() / "state/margay.sock";
};

TEST_F(ApiFlood, AThousandSlowClientsOfOneUserLeaveAnotherAnswered) {
  const auto slow = flood(1000, "GET /v1/st");
  expect_status_within_a_second();
  expect_little_memory();
}

TEST_F(ApiFlood, AThousandClientsWhoDoNotReadLeaveAnotherAnswered) {
  const auto unread = flood(1000, "GET /v1/items?explain=1 HTTP/1.1\r\n\r\n");
  expect_status_within_a_second();
  expect_little_memory();
}

TEST_F(ApiFlood, LargeBodiesThatNeverEndTakeLittleMemory) {
  const std::string head = "POST /v1/items HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n";
  const auto large = flood(60, head + std::string(3'900'000, ' '));
  expect_status_within_a_second();
  expect_little_memory();
}

}  // namespace
}  // namespace tests
