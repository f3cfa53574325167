// Sends one HTTP request over a Unix socket, together with open files. Blocks until the answer is
// read.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace scheduler::api {

struct Call {
  std::string method = "GET";
  std::string target{};  // path and query, already encoded
  std::string body{};
  std::vector<int> files{};
};

struct Answer {
  int status = 0;
  std::string body{};
};

// There was no answer, or it was not HTTP. The message names the socket and what to do.
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class HttpClient {
 public:
  explicit HttpClient(std::string socket,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60))
      : socket_(std::move(socket)), timeout_(timeout) {}

  // Throws Unreachable.
  Answer call(const Call& call) const;
  const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  std::chrono::milliseconds timeout_;
};

}  // namespace scheduler::api
