// The server's socket file, and when it is quiet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "scheduler/http/http_client.h"
#include "tests/unit/scheduler/http/raw_http_fixture.h"
#include "tests/wait_until.h"

namespace scheduler::api {
namespace {

using testing::StartsWith;

class ServerSocketTest : public RawHttpTest {};

TEST_F(ServerSocketTest, QuietAfterAnswersIsReportedOnce) {
  std::atomic<int> quiet = 0;
  ServerOptions watchful = options();
  watchful.check_interval = std::chrono::milliseconds(5);
  watchful.when_quiet = [&] { ++quiet; };
  const HttpServer server(watchful, answer);
  EXPECT_EQ(quiet, 0);
  ask(kStatus);
  EXPECT_TRUE(tests::becomes_true([&] { return quiet == 1; }));
  ask(kStatus);
  EXPECT_TRUE(tests::becomes_true([&] { return quiet == 2; }));
}

TEST_F(ServerSocketTest, ALostSocketFileIsMadeAgain) {
  ServerOptions watchful = options();
  watchful.check_interval = std::chrono::milliseconds(20);
  const HttpServer server(watchful, answer);
  const auto answers = [&] {
    try {
      return HttpClient(socket_).call({.target = "/x"}).status == 200;
    } catch (const Unreachable&) {
      return false;
    }
  };
  ASSERT_TRUE(answers());
  ASSERT_EQ(::unlink(socket_.c_str()), 0);
  EXPECT_TRUE(tests::becomes_true(answers)) << "removed";
  { const Descriptor dead = (::unlink(socket_.c_str()), listen_at(socket_, "")); }
  EXPECT_TRUE(tests::becomes_true(answers)) << "replaced by one that is dead";
}

TEST_F(ServerSocketTest, AFileThatTookTheSocketsPlaceIsLeftAlone) {
  ServerOptions watchful = options();
  watchful.check_interval = std::chrono::milliseconds(20);
  const Descriptor before = [&] {
    const HttpServer server(watchful, answer);
    Descriptor connection = start("GET /x HTTP/1.1\r\n");
    EXPECT_EQ(::unlink(socket_.c_str()), 0);
    folder_.write("s.sock", "precious");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    send_with_files(connection.get(), "\r\n", {});
    EXPECT_THAT(answer_at(connection.get()), StartsWith("HTTP/1.1 200 "));
    return connection;
  }();
  EXPECT_EQ(tests::text_of(socket_), "precious");
}

}  // namespace
}  // namespace scheduler::api
