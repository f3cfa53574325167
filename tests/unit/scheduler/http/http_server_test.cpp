#include "scheduler/http/http_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "scheduler/http/http_client.h"
#include "tests/scratch_folder.h"
#include "tests/wait_until.h"

namespace scheduler::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

class HttpServerTest : public testing::Test {
 protected:
  // Answers with what it received.
  static Response echo(Request& request) {
    std::string text = request.method + " " + request.path + " " + request.body + " uid " +
                       std::to_string(request.peer.uid) + " pid " +
                       std::to_string(request.peer.pid);
    for (const Descriptor& file : request.files) {
      std::array<char, 100> buffer{};
      const ssize_t count = ::pread(file.get(), buffer.data(), buffer.size(), 0);
      text +=
          " [" + std::string(buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))) + "]";
    }
    if (request.files_lost) text += " lost";
    return {.status = 200, .body = text, .content_type = "text/plain"};
  }

  Descriptor open_with(const std::string& name, const std::string& text) const {
    return Descriptor(::open(folder_.write(name, text).c_str(), O_RDONLY | O_CLOEXEC));
  }

  // Sends these bytes and no others; what comes back.
  std::string raw(const std::string& bytes, const std::vector<int>& files = {}) const {
    const Descriptor connection = connect_to(socket_, std::chrono::seconds(20));
    send_with_files(connection.get(), bytes, files);
    std::string answer;
    std::array<char, 4096> buffer;
    std::vector<Descriptor> unasked;
    for (;;) {
      const Received got =
          receive_with_files(connection.get(), buffer.data(), buffer.size(), unasked);
      if (got.bytes <= 0) return answer;
      answer.append(buffer.data(), static_cast<size_t>(got.bytes));
    }
  }

  const tests::ScratchFolder folder_;
  const std::string socket_ = folder_ / "s.sock";
};

TEST_F(HttpServerTest, TheCallersIdentityComesFromTheSocket) {
  const HttpServer server({.socket = socket_}, echo);
  const Answer answer = HttpClient(socket_).call({.target = "/v1/status"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("uid " + std::to_string(::getuid()) + " pid " +
                                     std::to_string(::getpid())));
}

TEST_F(HttpServerTest, HeadersThatClaimAnotherIdentityChangeNothing) {
  const HttpServer server({.socket = socket_}, echo);
  const std::string answer =
      raw("GET /x HTTP/1.1\r\nHost: x\r\nREMOTE_ADDR: 1\r\nREMOTE_PORT: 7\r\nX-Margay-Uid: 0\r\n"
          "X-Forwarded-For: 7\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("uid " + std::to_string(::getuid()) + " "));
}

TEST_F(HttpServerTest, OpenFilesArriveInTheirOrder) {
  const HttpServer server({.socket = socket_}, echo);
  const Descriptor one = open_with("one", "first");
  const Descriptor two = open_with("two", "second");
  const Answer answer = HttpClient(socket_).call(
      {.method = "POST", .target = "/f", .body = "body", .files = {one.get(), two.get()}});
  EXPECT_THAT(answer.body, HasSubstr("POST /f body"));
  EXPECT_THAT(answer.body, testing::EndsWith("[first] [second]"));
}

TEST_F(HttpServerTest, AsManyFilesAsTheKernelPassesArrive) {
  std::atomic<size_t> count = 0;
  const HttpServer server({.socket = socket_}, [&](Request& request) {
    count = request.files.size();
    return echo(request);
  });
  const Descriptor file = open_with("one", "x");
  const std::vector<int> files(kMostFilesPassed, file.get());
  HttpClient(socket_).call({.method = "POST", .target = "/f", .body = "b", .files = files});
  EXPECT_EQ(count, kMostFilesPassed);
}

TEST_F(HttpServerTest, FilesSentInManyMessagesAreNotHoarded) {
  std::atomic<size_t> count = 0;
  std::atomic<bool> lost = false;
  const HttpServer server({.socket = socket_}, [&](Request& request) {
    count = request.files.size();
    lost = request.files_lost;
    return echo(request);
  });
  const Descriptor file = open_with("one", "x");
  const std::vector<int> files(200, file.get());
  const Descriptor connection = connect_to(socket_, std::chrono::seconds(20));
  for (const char* piece :
       {"GET /x ", "HTTP/1.1\r\n", "Host: x\r\n", "Connection: close\r\n\r\n"}) {
    send_with_files(connection.get(), piece, files);
  }
  std::array<char, 4096> buffer;
  std::vector<Descriptor> unasked;
  receive_with_files(connection.get(), buffer.data(), buffer.size(), unasked);
  EXPECT_TRUE(lost);
  EXPECT_EQ(count, 0U);
}

TEST_F(HttpServerTest, FilesAreClosedWithTheirRequest) {
  const HttpServer server({.socket = socket_}, echo);
  const auto open_files = [] {
    std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const Descriptor file = open_with("one", "x");
  const HttpClient client(socket_);
  client.call({.method = "POST", .target = "/f", .body = "b", .files = {file.get()}});
  const auto before = open_files();
  for (int i = 0; i < 20; ++i) {
    const std::vector<int> files(50, file.get());
    client.call({.method = "POST", .target = "/f", .body = "b", .files = files});
  }
  EXPECT_TRUE(tests::becomes_true([&] { return open_files() < before + 60; }));
}

TEST_F(HttpServerTest, WhatIsNotHttpHarmsNobody) {
  const HttpServer server({.socket = socket_, .read_timeout = std::chrono::seconds(1)}, echo);
  raw(std::string(50000, 'x'));
  raw(std::string("\0\1\2\r\n\r\n", 7));
  EXPECT_THAT(raw("DELETE /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 4"));
  EXPECT_EQ(HttpClient(socket_).call({.target = "/v1/status"}).status, 200);
}

TEST_F(HttpServerTest, AVeryLongAddressIsNotFound) {
  const HttpServer server({.socket = socket_}, echo);
  const Answer answer = HttpClient(socket_).call({.target = "/" + std::string(7000, 'a')});
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("not_found"));
}

TEST_F(HttpServerTest, ManyCallersAtOnceAreAllAnswered) {
  const HttpServer server({.socket = socket_}, echo);
  std::atomic<int> answered = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 12; ++i) {
    callers.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        const std::string body = std::to_string(100 * i + k);
        const Answer answer =
            HttpClient(socket_).call({.method = "POST", .target = "/e", .body = body});
        if (answer.body.find(" " + body + " ") != std::string::npos) ++answered;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(answered, 120);
}

TEST_F(HttpServerTest, TheSocketIsForOwnerAndGroupOnly) {
  const HttpServer server({.socket = socket_}, echo);
  struct stat status {};
  ASSERT_EQ(::stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
}

TEST_F(HttpServerTest, ASilentCallerDoesNotKeepTheServerFromStopping) {
  const Descriptor silent = [&] {
    // A hang would end in the test's own time limit.
    const HttpServer server({.socket = socket_, .read_timeout = std::chrono::hours(1)}, echo);
    Descriptor connection = connect_to(socket_, std::chrono::seconds(20));
    EXPECT_EQ(HttpClient(socket_).call({.target = "/x"}).status, 200);
    return connection;
  }();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(HttpServerTest, TheSocketGoesWithTheServer) {
  { const HttpServer server({.socket = socket_}, echo); }
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(HttpServerTest, ASocketLeftOverByADeadDaemonIsReplaced) {
  { const Descriptor dead = listen_at(socket_, ""); }
  ASSERT_TRUE(std::filesystem::exists(socket_));
  const HttpServer server({.socket = socket_}, echo);
  EXPECT_EQ(HttpClient(socket_).call({.target = "/x"}).status, 200);
}

TEST_F(HttpServerTest, ASocketOnWhichAnotherListensIsLeftAlone) {
  const HttpServer server({.socket = socket_}, echo);
  EXPECT_THAT([&] { HttpServer other({.socket = socket_}, echo); },
              ThrowsMessage<std::runtime_error>(HasSubstr("another daemon")));
  EXPECT_EQ(HttpClient(socket_).call({.target = "/x"}).status, 200);
}

TEST_F(HttpServerTest, AFileAtTheSocketsPlaceIsNotRemoved) {
  std::ofstream(socket_) << "precious";
  EXPECT_THAT([&] { HttpServer server({.socket = socket_}, echo); },
              ThrowsMessage<std::runtime_error>(HasSubstr("is not a socket")));
  EXPECT_TRUE(std::filesystem::is_regular_file(socket_));
}

TEST_F(HttpServerTest, APathTooLongForASocketIsNamed) {
  const std::string path = folder_ / std::string(120, 'x');
  EXPECT_THAT([&] { HttpServer server({.socket = path}, echo); },
              ThrowsMessage<std::runtime_error>(HasSubstr("shorter")));
}

TEST_F(HttpServerTest, AnUnknownGroupIsNamed) {
  EXPECT_THAT([&] { HttpServer server({.socket = socket_, .group = "no-such-group"}, echo); },
              ThrowsMessage<std::runtime_error>(HasSubstr("'no-such-group'")));
}

// Nobody accepts, and the queue is full: a connection would wait for ever.
TEST_F(HttpServerTest, ASocketWhoseDaemonIsBusyIsNotTakenAway) {
  const Descriptor busy = listen_at(socket_, "");
  ASSERT_EQ(::listen(busy.get(), 0), 0);
  std::vector<Descriptor> waiting;
  waiting.push_back(connect_to(socket_, std::chrono::seconds(1)));
  EXPECT_THROW(waiting.push_back(connect_to(socket_, std::chrono::milliseconds(10))),
               std::system_error);
  EXPECT_THAT([&] { listen_at(socket_, ""); },
              ThrowsMessage<std::runtime_error>(HasSubstr("another daemon listens here")));
}

TEST_F(HttpServerTest, ACallerLearnsWhyThereIsNoAnswer) {
  const HttpClient client(socket_);
  EXPECT_THAT([&] { client.call({.target = "/x"}); },
              ThrowsMessage<Unreachable>(HasSubstr("start margayd")));
  { const Descriptor dead = listen_at(socket_, ""); }
  EXPECT_THAT([&] { client.call({.target = "/x"}); },
              ThrowsMessage<Unreachable>(HasSubstr("no daemon listens")));
}

TEST_F(HttpServerTest, AnAnswerCutShortIsNotTakenForWhole) {
  const Descriptor listener = listen_at(socket_, "");
  std::thread server([&] {
    const Descriptor connection(::accept(listener.get(), nullptr, nullptr));
    std::array<char, 4096> request;
    std::vector<Descriptor> files;
    receive_with_files(connection.get(), request.data(), request.size(), files);
    send_with_files(connection.get(),
                    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":", {});
  });
  EXPECT_THAT([&] { HttpClient(socket_).call({.target = "/x"}); },
              ThrowsMessage<Unreachable>(HasSubstr("cut short")));
  server.join();
}

}  // namespace
}  // namespace scheduler::api
