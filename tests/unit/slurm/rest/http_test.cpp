#include "slurm/rest/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/fakes/scripted_http.h"
#include "tests/scratch_folder.h"

namespace slurm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;
using tests::ScriptedAnswer;
using tests::ScriptedHttp;
using tests::ScriptedRequest;
using Ending = HttpAnswer::Ending;

ScriptedAnswer hello(const ScriptedRequest&) { return {.body = "hello"}; }

HttpRequest get(const std::string& path) { return {.method = "GET", .path = path, .headers = {}}; }

// An environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

TEST(HttpClientTest, ARequestReachesTheServerAsItWasMade) {
  ScriptedHttp server(hello);
  HttpClient client({.url = server.url()});
  const HttpAnswer answer = client.ask({.method = "POST",
                                        .path = "/slurm/v0.0.38/job/submit?a=b%20c",
                                        .headers = {{"X-SLURM-USER-NAME", "alice"}},
                                        .body = "{\"script\": \"#!/bin/bash\\n\"}"});
  ASSERT_EQ(answer.ending, Ending::kAnswered) << answer.problem;
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  ASSERT_THAT(server.requests(), SizeIs(1));
  const ScriptedRequest request = server.requests().front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/slurm/v0.0.38/job/submit?a=b%20c");
  EXPECT_EQ(request.headers.at("x-slurm-user-name"), "alice");
  EXPECT_EQ(request.body, "{\"script\": \"#!/bin/bash\\n\"}");
}

TEST(HttpClientTest, ALargeBodyHasItsLengthAndWaitsForNoPermission) {
  ScriptedHttp server(hello);
  HttpClient client({.url = server.url()});
  const std::string body(4 << 20, 'x');
  client.ask({.method = "POST", .path = "/", .headers = {}, .body = body});
  ASSERT_THAT(server.requests(), SizeIs(1));
  const auto headers = server.requests().front().headers;
  EXPECT_EQ(headers.at("content-length"), std::to_string(body.size()));
  EXPECT_EQ(headers.count("expect"), 0);
  EXPECT_EQ(headers.count("transfer-encoding"), 0);
  EXPECT_EQ(server.requests().front().body.size(), body.size());
}

TEST(HttpClientTest, AUnixSocketServesAsWell) {
  const tests::ScratchFolder folder;
  ScriptedHttp server(hello, folder / "socket");
  HttpClient client({.url = "unix:" + (folder / "socket")});
  EXPECT_EQ(client.ask(get("/ping")).body, "hello");
  EXPECT_EQ(server.requests().front().path, "/ping");
}

TEST(HttpClientTest, AStatusOtherThan200IsAnAnswerWithItsBody) {
  ScriptedHttp server([](const auto&) { return ScriptedAnswer{.status = 500, .body = "down"}; });
  HttpClient client({.url = server.url()});
  std::string sunk;
  const HttpAnswer answer =
      client.ask(get("/"), [&](std::string_view piece) { sunk += std::string(piece); });
  EXPECT_EQ(answer.ending, Ending::kAnswered);
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "down");
  EXPECT_THAT(sunk, IsEmpty());
}

TEST(HttpClientTest, AGoodBodyGoesToTheSinkInPieces) {
  const std::string body(1 << 20, 'x');
  ScriptedHttp server([&](const auto&) { return ScriptedAnswer{.body = body}; });
  HttpClient client({.url = server.url()});
  size_t size = 0;
  int pieces = 0;
  const HttpAnswer answer = client.ask(get("/"), [&](std::string_view piece) {
    size += piece.size();
    ++pieces;
  });
  EXPECT_EQ(size, body.size());
  EXPECT_GT(pieces, 1);
  EXPECT_THAT(answer.body, IsEmpty());
}

TEST(HttpClientTest, WhatTheSinkThrowsReachesTheCaller) {
  ScriptedHttp server(hello);
  HttpClient client({.url = server.url()});
  const auto sink = [](std::string_view) { throw std::runtime_error("beyond any sense"); };
  EXPECT_THAT([&] { client.ask(get("/"), sink); },
              ThrowsMessage<std::runtime_error>(HasSubstr("beyond any sense")));
  EXPECT_EQ(client.ask(get("/")).body, "hello");
}

TEST(HttpClientTest, NobodyListeningMeansNotSent) {
  HttpClient client({.url = "http://127.0.0.1:" + std::to_string(tests::closed_port())});
  const HttpAnswer answer = client.ask({.method = "POST", .path = "/", .headers = {}, .body = "x"});
  EXPECT_EQ(answer.ending, Ending::kNotSent);
  EXPECT_THAT(answer.problem, HasSubstr("refused"));
}

TEST(HttpClientTest, AMissingSocketMeansNotSent) {
  HttpClient client({.url = "unix:/nowhere/slurmrestd.socket"});
  const HttpAnswer answer = client.ask(get("/"));
  EXPECT_EQ(answer.ending, Ending::kNotSent);
  EXPECT_THAT(answer.problem, Not(IsEmpty()));
}

TEST(HttpClientTest, AnUnknownHostMeansNotSent) {
  HttpClient client({.url = "http://no-such-host.invalid:6820"});
  const HttpAnswer answer = client.ask(get("/"));
  EXPECT_EQ(answer.ending, Ending::kNotSent);
  EXPECT_THAT(answer.problem, Not(IsEmpty()));
}

TEST(HttpClientTest, NoAnswerInTimeMeansLost) {
  ScriptedHttp server(
      [](const auto&) { return ScriptedAnswer{.ending = ScriptedAnswer::Ending::kHang}; });
  HttpClient client({.url = server.url(), .timeout = std::chrono::milliseconds(50)});
  const HttpAnswer answer = client.ask({.method = "POST", .path = "/", .headers = {}, .body = "x"});
  EXPECT_EQ(answer.ending, Ending::kLost);
  EXPECT_THAT(answer.problem, HasSubstr("within 50 ms"));
}

TEST(HttpClientTest, AnAnswerCutInTheMiddleMeansLost) {
  ScriptedHttp server([](const auto&) {
    return ScriptedAnswer{.body = std::string(1000, 'x'), .ending = ScriptedAnswer::Ending::kCut};
  });
  HttpClient client({.url = server.url()});
  const HttpAnswer answer = client.ask(get("/"));
  EXPECT_EQ(answer.ending, Ending::kLost);
  EXPECT_THAT(answer.problem, HasSubstr("before the answer was whole"));
}

TEST(HttpClientTest, QuestionsShareOneConnection) {
  ScriptedHttp server(hello);
  HttpClient client({.url = server.url()});
  for (int i = 0; i < 5; ++i) client.ask(get("/"));
  EXPECT_EQ(server.requests().back().connection, 1);
}

// libcurl repeats a request by itself when a kept connection dies without a byte of an answer.
TEST(HttpClientTest, ASubmissionWhoseConnectionDiesIsNotMadeAgain) {
  ScriptedHttp server([](const ScriptedRequest& request) {
    return request.method == "GET" ? ScriptedAnswer{.body = "hello"}
                                   : ScriptedAnswer{.ending = ScriptedAnswer::Ending::kDrop};
  });
  HttpClient client({.url = server.url()});
  client.ask(get("/"));
  const HttpAnswer answer = client.ask({.method = "POST", .path = "/", .headers = {}, .body = "x"});
  EXPECT_EQ(answer.ending, Ending::kLost);
  EXPECT_THAT(server.requests("POST", "/"), SizeIs(1));
}

TEST(HttpClientTest, TheProxiesOfTheEnvironmentAreIgnored) {
  ScriptedHttp proxy(hello);
  ScriptedHttp server([](const auto&) { return ScriptedAnswer{.body = "direct"}; });
  const Environment lower("http_proxy", proxy.url());
  const Environment all("ALL_PROXY", proxy.url());
  HttpClient client({.url = server.url()});
  EXPECT_EQ(client.ask(get("/")).body, "direct");
  EXPECT_THAT(proxy.requests(), IsEmpty());
}

TEST(HttpClientTest, AProxyOfTheConfigurationIsUsedWhateverTheEnvironmentSays) {
  ScriptedHttp proxy([](const auto&) { return ScriptedAnswer{.body = "by proxy"}; });
  const Environment exceptions("no_proxy", "*");
  HttpClient client({.url = "http://slurm.invalid:6820", .proxy = proxy.url()});
  EXPECT_EQ(client.ask(get("/ping")).body, "by proxy");
  ASSERT_THAT(proxy.requests(), SizeIs(1));
  EXPECT_EQ(proxy.requests().front().path, "http://slurm.invalid:6820/ping");
}

TEST(HttpClientTest, ARedirectionIsNotFollowed) {
  ScriptedHttp other(hello);
  ScriptedHttp server([&](const auto&) {
    return ScriptedAnswer{.status = 302, .more_headers = "Location: " + other.url() + "/\r\n"};
  });
  HttpClient client({.url = server.url()});
  const HttpAnswer answer =
      client.ask({.method = "GET", .path = "/", .headers = {{"X-SLURM-USER-TOKEN", "secret"}}});
  EXPECT_EQ(answer.status, 302);
  EXPECT_THAT(other.requests(), IsEmpty());
}

TEST(HttpClientTest, TheServersDateIsHandedOut) {
  ScriptedHttp server([](const auto&) {
    return ScriptedAnswer{.more_headers = "DATE: Tue, 11 Jun 2024 12:00:00 GMT\r\n"};
  });
  EXPECT_EQ(HttpClient({.url = server.url()}).ask(get("/")).date, "Tue, 11 Jun 2024 12:00:00 GMT");
}

TEST(HttpClientTest, AnAnswerWithoutEndIsGivenUp) {
  const std::string body((64 << 20) + 1, 'x');
  ScriptedHttp server([&](const auto&) { return ScriptedAnswer{.body = body}; });
  HttpClient client({.url = server.url()});
  const HttpAnswer answer = client.ask(get("/"));
  EXPECT_EQ(answer.ending, Ending::kLost);
  EXPECT_THAT(answer.problem, HasSubstr("64 MB"));
}

TEST(HttpClientTest, AHeaderWithALineBreakIsRefusedWithoutShowingIt) {
  ScriptedHttp server(hello);
  HttpClient client({.url = server.url()});
  const auto ask = [&] {
    client.ask({.method = "GET", .path = "/", .headers = {{"X-Name", "secret\r\nX-Evil: yes"}}});
  };
  EXPECT_THAT(ask, ThrowsMessage<std::runtime_error>(
                       testing::AllOf(HasSubstr("X-Name"), Not(HasSubstr("secret")))));
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST(HttpClientTest, AnotherKindOfAddressIsRefusedWithTheRightOnes) {
  for (const char* url : {"", "slurm:6820", "file:///etc/passwd", "ftp://host", "unix:"}) {
    EXPECT_THAT([&] { HttpClient({.url = url}); },
                ThrowsMessage<std::runtime_error>(HasSubstr("unix:/path")))
        << url;
  }
}

TEST(HttpClientTest, AServerWithoutTlsAtAnHttpsAddressMeansNotSent) {
  ScriptedHttp server(hello);
  HttpClient client(
      {.url = "https" + server.url().substr(4), .connect_timeout = std::chrono::milliseconds(100)});
  const HttpAnswer answer = client.ask(get("/"));
  EXPECT_EQ(answer.ending, Ending::kNotSent) << answer.problem;
  EXPECT_THAT(server.requests(), IsEmpty());
}

}  // namespace
}  // namespace slurm
