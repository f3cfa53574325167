// What one client, or one user, may take of the server.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>

#include "scheduler/http/http_client.h"
#include "tests/unit/scheduler/http/raw_http_fixture.h"
#include "tests/wait_until.h"

namespace scheduler::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class HttpLimitsTest : public RawHttpTest {};

TEST_F(HttpLimitsTest, AUserWithTooManyConnectionsIsRefusedAndOthersAreNot) {
  ServerOptions few = options();
  few.limits.connections_per_user = 3;
  few.read_timeout = std::chrono::hours(1);
  const HttpServer server(few, answer);
  std::vector<Descriptor> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(start("GET"));
  EXPECT_THAT(answer_at(connect().get()),
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("limits.connections_per_user"),
                    HasSubstr(R"("kind":"busy")")));
  // margay sends its request whether or not it is wanted.
  EXPECT_EQ(HttpClient(socket_).call({.target = "/x"}).status, 429);
  caller_ = kBob;
  EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
  caller_ = kAlice;
  silent.pop_back();
  EXPECT_TRUE(tests::becomes_true([&] { return ask(kStatus).starts_with("HTTP/1.1 200 "); }));
}

TEST_F(HttpLimitsTest, AllConnectionsTogetherAreLimited) {
  ServerOptions few = options();
  few.limits.connections = 2;
  few.read_timeout = std::chrono::hours(1);
  const HttpServer server(few, answer);
  const Descriptor one = start("GET");
  caller_ = kBob;
  const Descriptor two = start("GET");
  EXPECT_TRUE(tests::becomes_true(
      [&] { return HttpClient(socket_).call({.target = "/x"}).status == 503; }));
}

TEST_F(HttpLimitsTest, AThousandSlowClientsOfOneUserLeaveAnotherAnswered) {
  ServerOptions patient = options();
  patient.read_timeout = std::chrono::hours(1);
  patient.write_timeout = std::chrono::hours(1);
  patient.peer = [accepted = 0](int) mutable {
    return Peer{.uid = accepted++ < 1000 ? kAlice : kBob, .gid = 0, .pid = 1};
  };
  const HttpServer server(patient, [](Request& request) {
    const size_t size = request.path == "/large" ? 1'000'000 : 2;
    return Response{.status = 200, .body = std::string(size, 'x')};
  });
  std::vector<Descriptor> slow;
  for (int i = 0; i < 1000; ++i) {
    slow.push_back(connect());
    const std::string bytes = i % 2 == 0 ? "GET /v1/st" : "GET /large HTTP/1.1\r\n\r\n";
    // Those above the limit are closed at once.
    ::send(slow.back().get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpLimitsTest, RequestsThatBlockForOneUserLeaveThreadsForOthers) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> begun = 0;
  const HttpServer server(options(), [&](Request& request) {
    if (request.peer.uid == kAlice) {
      ++begun;
      ended.wait();
    }
    return Response{};
  });
  std::vector<Descriptor> blocked;
  for (int i = 0; i < 20; ++i) blocked.push_back(start(kStatus));
  EXPECT_TRUE(tests::becomes_true([&] { return begun == 4; }));
  caller_ = kBob;
  EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(begun, 4);
  end.set_value();
  for (const Descriptor& connection : blocked) {
    EXPECT_THAT(answer_at(connection.get()), StartsWith("HTTP/1.1 200 "));
  }
}

TEST_F(HttpLimitsTest, RequestsThatTakeLongHaveThreadsOfTheirOwn) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::atomic<int> begun = 0;
  ServerOptions with_long = options();
  with_long.takes_long = [](const Head& head) { return head.path == "/long"; };
  const HttpServer server(with_long, [&](Request& request) {
    if (request.path == "/long") {
      ++begun;
      ended.wait();
    }
    return Response{};
  });
  std::vector<Descriptor> longs;
  for (int i = 0; i < 20; ++i) longs.push_back(start("GET /long HTTP/1.1\r\n\r\n"));
  EXPECT_TRUE(tests::becomes_true([&] { return begun == 1; }));
  for (int i = 0; i < 20; ++i) EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(begun, 1) << "one for each user";
  end.set_value();
  for (const Descriptor& connection : longs) {
    EXPECT_THAT(answer_at(connection.get()), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_EQ(begun, 20);
}

TEST_F(HttpLimitsTest, AUserWhoAsksTooOftenIsRefused) {
  ServerOptions slow = options();
  slow.limits.requests_per_second = 1;
  const HttpServer server(slow, answer);
  std::vector<Descriptor> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(start(kStatus));
  EXPECT_THAT(answer_at(asked.back().get()),
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("limits.requests_per_second")));
  caller_ = kBob;
  EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpLimitsTest, FilesOfManyRequestsAtOnceAreLimitedAndClosed) {
  const HttpServer server(options(), answer);
  const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> files(kMostFilesPassed, file.get());
  const auto before = open_files();
  {
    std::vector<Descriptor> unfinished;
    for (int i = 0; i < 9; ++i) unfinished.push_back(start("GET /x", files));
    EXPECT_THAT(answer_at(unfinished.back().get()),
                AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("open files")));
  }
  EXPECT_TRUE(tests::becomes_true([&] { return open_files() <= before; }));
}

TEST_F(HttpLimitsTest, FilesOfRefusedRequestsAreClosed) {
  ServerOptions hasty = options();
  hasty.limits.body = 10;
  hasty.read_timeout = std::chrono::milliseconds(50);
  const HttpServer server(hasty, answer);
  const Descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<int> files(50, file.get());
  const auto before = open_files();
  EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Length: 11\r\n\r\n", files),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(ask("nonsense\r\n\r\n", files), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(ask("GET /" + std::string(300, 'x') + " HTTP/1.1\r\n\r\n", files),
              StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("GET /x", files), StartsWith("HTTP/1.1 408 "));
  { const Descriptor hangs_up = start("GET /x", files); }
  EXPECT_TRUE(tests::becomes_true([&] { return open_files() <= before; }));
}

// A connection over the loopback with bytes that its other end does not take: to close it takes a
// minute.
std::pair<Descriptor, Descriptor> lingering_pair() {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.get(), where, size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), where, &size), 0);
  Descriptor end(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(end.get(), where, size), 0);
  Descriptor other(::accept(listener.get(), nullptr, nullptr));
  const std::string bytes(1 << 16, 'x');
  while (::send(end.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  const linger minute{.l_onoff = 1, .l_linger = 60};
  EXPECT_EQ(::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &minute, sizeof(minute)), 0);
  return {std::move(end), std::move(other)};
}

TEST_F(HttpLimitsTest, PassedFilesThatTakeLongToCloseHoldUpNobodyElse) {
  const HttpServer server(options(), answer);
  std::vector<Descriptor> kept;  // while these are open, the others linger
  std::vector<Descriptor> unread;
  for (int i = 0; i < 4; ++i) {
    auto [lingers, other] = lingering_pair();
    kept.push_back(std::move(other));
    // With a whole request, with the start of one, and with one that is refused.
    const std::string text = i == 0   ? "GET /x HTTP/1.1\r\n\r\n"
                             : i == 1 ? "GET /x"
                                      : "nonsense\r\n\r\n";
    unread.push_back(start(text, {lingers.get()}));
  }
  unread.clear();
  caller_ = kBob;
  for (int i = 0; i < 20; ++i) EXPECT_THAT(ask(kStatus), StartsWith("HTTP/1.1 200 "));
  kept.clear();
}

TEST_F(HttpLimitsTest, LargeBodiesOfOneUserAtOnceAreLimited) {
  ServerOptions patient = options();
  patient.read_timeout = std::chrono::hours(1);
  const HttpServer server(patient, answer);
  const std::string head = "POST /x HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n";
  std::vector<Descriptor> unfinished;
  for (int i = 0; i < 9; ++i) unfinished.push_back(start(head));
  EXPECT_THAT(answer_at(unfinished.back().get()),
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("limits.body")));
}

}  // namespace
}  // namespace scheduler::api
