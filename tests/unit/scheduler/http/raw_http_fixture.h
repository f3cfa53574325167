// A server that any user may be asking, and clients that send what they like.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "scheduler/http/http_server.h"
#include "tests/scratch_folder.h"

namespace scheduler::api {

inline constexpr uid_t kAlice = 7001;
inline constexpr uid_t kBob = 7002;
inline const std::string kStatus = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";

class RawHttpTest : public testing::Test {
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

}  // namespace scheduler::api
