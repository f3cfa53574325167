// What one client, or one user, may take of the server. Longer than 400 lines, since every limit is
// tried on the same server.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "scheduler/http/http_client.h"
#include "scheduler/http/http_server.h"
#include "tests/scratch_folder.h"
#include "tests/wait_until.h"

namespace scheduler::api {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uid_t kAlice = 7001;
constexpr uid_t kBob = 7002;
const std::string kStatus = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";

class HttpLimitsTest : public testing::Test {
 protected:
  ServerOptions options() {
    ServerOptions options{.socket = socket_};
    options.peer = [this](int) { return Peer{.uid = caller_, .gid = 0, .pid = 1}; };
    return options;
  }

  static Response answer(Request& request) {
    return {.status = 200, .body = request.path + " " + std::to_string(request.body.size())};
  }

  Descriptor connect() const { return connect_to(socket_, std::chrono::seconds(60)); }

  // Sends the start and then the piece again and again, until the server answers or `most` bytes
  // are sent; its answer.
  std::string pour(const std::string& start, const std::string& piece, size_t most) const {
    const Descriptor connection = connect();
    sent_ = 0;
    for (std::string bytes = start; sent_ < most; bytes = piece) {
      std::array<char, 1> peeked;
      if (::recv(connection.get(), peeked.data(), 1, MSG_PEEK | MSG_DONTWAIT) >= 0) break;
      const ssize_t count = ::send(connection.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0) break;
      sent_ += static_cast<size_t>(count);
    }
    return answer_at(connection.get());
  }

  static std::string answer_at(int connection) {
    std::string text;
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t count = ::read(connection, buffer.data(), buffer.size());
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<size_t>(count));
    }
  }

  std::string ask(const std::string& bytes, const std::vector<int>& files = {}) const {
    const Descriptor connection = connect();
    send_with_files(connection.get(), bytes, files);
    return answer_at(connection.get());
  }

  Descriptor start(const std::string& bytes, const std::vector<int>& files = {}) const {
    Descriptor connection = connect();
    send_with_files(connection.get(), bytes, files);
    return connection;
  }

  static std::ptrdiff_t open_files() {
    std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  }

  const tests::ScratchFolder folder_;
  const std::string socket_ = folder_ / "s.sock";
  std::atomic<uid_t> caller_ = kAlice;
  mutable size_t sent_ = 0;
};

TEST_F(HttpLimitsTest, ARequestLineWithoutEndIsRefusedEarly) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("GET /", std::string(100'000, 'a'), 50'000'000),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("longer than 16384 bytes")));
  EXPECT_LT(sent_, 5'000'000U);
}

TEST_F(HttpLimitsTest, HeadersWithoutEndAreRefusedEarly) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("GET / HTTP/1.1\r\n", "X-A: " + std::string(10'000, 'a') + "\r\n", 50'000'000),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_LT(sent_, 5'000'000U);
  std::string many = "GET /x HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many += "X: 1\r\n";
  EXPECT_THAT(ask(many + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("more than 64 headers")));
}

TEST_F(HttpLimitsTest, ABodyThatIsTooLargeIsRefusedBeforeItIsRead) {
  ServerOptions small = options();
  small.limits.body = 1000;
  const HttpServer server(small, answer);
  EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'b')),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("/x 1000")));
  for (const std::string length : {"1001", "99999999999999999999999999"}) {
    EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Length: " + length + "\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("limits.body")));
  }
}

TEST_F(HttpLimitsTest, ABodyWithoutItsLengthIsRefused) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                   "10000\r\n" + std::string(0x10000, 'c') + "\r\n", 50'000'000),
              AllOf(StartsWith("HTTP/1.1 411 "), HasSubstr("Content-Length")));
  EXPECT_LT(sent_, 5'000'000U);
}

TEST_F(HttpLimitsTest, ACompressedBodyIsRefused) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
              AllOf(StartsWith("HTTP/1.1 415 "), HasSubstr("uncompressed")));
}

TEST_F(HttpLimitsTest, AmbiguousRequestsAreRefused) {
  const HttpServer server(options(), answer);
  for (const std::string head :
       {"POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", "GET /x",
        "POST /x HTTP/1.1\r\nContent-Length: +1", "GET x HTTP/1.1", "GET /x HTTP/2", "\r\n",
        "PUT /x HTTP/1.1", "POST /x HTTP/1.1\r\nContent-Length: "}) {
    EXPECT_THAT(ask(head + "\r\n\r\n"), StartsWith("HTTP/1.1 400 ")) << head;
  }
}

TEST_F(HttpLimitsTest, AClientThatAsksFirstMayContinue) {
  const HttpServer server(options(), answer);
  const Descriptor connection =
      start("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  std::array<char, 100> buffer;
  const ssize_t count = ::read(connection.get(), buffer.data(), buffer.size());
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(buffer.data(), static_cast<size_t>(count)),
            "HTTP/1.1 100 Continue\r\n\r\n");
  send_with_files(connection.get(), "abc", {});
  EXPECT_THAT(answer_at(connection.get()), HasSubstr("/x 3"));
}

TEST_F(HttpLimitsTest, ARequestMayArriveByteByByte) {
  const HttpServer server(options(), [](Request& request) {
    return Response{.status = 200, .body = request.query["a b"] + request.body};
  });
  const Descriptor connection = connect();
  const std::string request = "POST /x?a%20b=%41+z&c HTTP/1.1\r\ncontent-LENGTH:  3 \r\n\r\nend";
  for (const char byte : request) send_with_files(connection.get(), std::string(1, byte), {});
  EXPECT_THAT(answer_at(connection.get()), testing::EndsWith("\r\n\r\nA zend"));
}

TEST_F(HttpLimitsTest, ARequestThatNeverEndsIsClosed) {
  ServerOptions hasty = options();
  hasty.read_timeout = std::chrono::milliseconds(50);
  const HttpServer server(hasty, answer);
  EXPECT_THAT(answer_at(start("GET /v1/st").get()),
              AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("did not arrive whole")));
  // However often it sends something.
  EXPECT_THAT(pour("GET /x HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n", "a", 3'000'000),
              AnyOf(StartsWith("HTTP/1.1 408 "), StartsWith("HTTP/1.1 200 ")));
}

TEST_F(HttpLimitsTest, AnAnswerThatNobodyReadsIsDropped) {
  ServerOptions hasty = options();
  hasty.write_timeout = std::chrono::milliseconds(50);
  const HttpServer server(
      hasty, [](Request&) { return Response{.status = 200, .body = std::string(5'000'000, 'x')}; });
  const Descriptor connection = start(kStatus);
  EXPECT_TRUE(tests::becomes_true([&] {
    pollfd entry{.fd = connection.get(), .events = 0, .revents = 0};
    return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
  }));
  EXPECT_LT(answer_at(connection.get()).size(), 5'000'000U);
}

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

TEST_F(HttpLimitsTest, QuietAfterAnswersIsReportedOnce) {
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

TEST_F(HttpLimitsTest, ALostSocketFileIsMadeAgain) {
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

TEST_F(HttpLimitsTest, AFileThatTookTheSocketsPlaceIsLeftAlone) {
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
