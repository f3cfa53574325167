// Requests that are too long, unclear or slow, and answers that nobody reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tests/unit/scheduler/http/raw_http_fixture.h"
#include "tests/wait_until.h"

namespace scheduler::api {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class HttpRequestsTest : public RawHttpTest {};

TEST_F(HttpRequestsTest, ARequestLineWithoutEndIsRefusedEarly) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("GET /", std::string(100'000, 'a'), 50'000'000),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("longer than 16384 bytes")));
  EXPECT_LT(sent_, 5'000'000U);
}

TEST_F(HttpRequestsTest, HeadersWithoutEndAreRefusedEarly) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("GET / HTTP/1.1\r\n", "X-A: " + std::string(10'000, 'a') + "\r\n", 50'000'000),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_LT(sent_, 5'000'000U);
  std::string many = "GET /x HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many += "X: 1\r\n";
  EXPECT_THAT(ask(many + "\r\n"),
              AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("more than 64 headers")));
}

TEST_F(HttpRequestsTest, ABodyThatIsTooLargeIsRefusedBeforeItIsRead) {
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

TEST_F(HttpRequestsTest, ABodyWithoutItsLengthIsRefused) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(pour("POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                   "10000\r\n" + std::string(0x10000, 'c') + "\r\n", 50'000'000),
              AllOf(StartsWith("HTTP/1.1 411 "), HasSubstr("Content-Length")));
  EXPECT_LT(sent_, 5'000'000U);
}

TEST_F(HttpRequestsTest, ACompressedBodyIsRefused) {
  const HttpServer server(options(), answer);
  EXPECT_THAT(ask("POST /x HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"),
              AllOf(StartsWith("HTTP/1.1 415 "), HasSubstr("uncompressed")));
}

TEST_F(HttpRequestsTest, AmbiguousRequestsAreRefused) {
  const HttpServer server(options(), answer);
  for (const std::string head :
       {"POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2", "GET /x",
        "POST /x HTTP/1.1\r\nContent-Length: +1", "GET x HTTP/1.1", "GET /x HTTP/2", "\r\n",
        "PUT /x HTTP/1.1", "POST /x HTTP/1.1\r\nContent-Length: "}) {
    EXPECT_THAT(ask(head + "\r\n\r\n"), StartsWith("HTTP/1.1 400 ")) << head;
  }
}

TEST_F(HttpRequestsTest, AClientThatAsksFirstMayContinue) {
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

TEST_F(HttpRequestsTest, ARequestMayArriveByteByByte) {
  const HttpServer server(options(), [](Request& request) {
    return Response{.status = 200, .body = request.query["a b"] + request.body};
  });
  const Descriptor connection = connect();
  const std::string request = "POST /x?a%20b=%41+z&c HTTP/1.1\r\ncontent-LENGTH:  3 \r\n\r\nend";
  for (const char byte : request) send_with_files(connection.get(), std::string(1, byte), {});
  EXPECT_THAT(answer_at(connection.get()), testing::EndsWith("\r\n\r\nA zend"));
}

TEST_F(HttpRequestsTest, ARequestThatNeverEndsIsClosed) {
  ServerOptions hasty = options();
  hasty.read_timeout = std::chrono::milliseconds(50);
  const HttpServer server(hasty, answer);
  EXPECT_THAT(answer_at(start("GET /v1/st").get()),
              AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("did not arrive whole")));
  // However often it sends something.
  EXPECT_THAT(pour("GET /x HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n", "a", 3'000'000),
              AnyOf(StartsWith("HTTP/1.1 408 "), StartsWith("HTTP/1.1 200 ")));
}

TEST_F(HttpRequestsTest, AnAnswerThatNobodyReadsIsDropped) {
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

}  // namespace
}  // namespace scheduler::api
