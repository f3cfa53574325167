// Ranks that join, and the times that tests of it wait.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/comm/acceptor.h"
#include "engine/comm/join.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"
#include "tests/wait_until.h"

namespace engine::comm {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

inline Deadline late() { return steady_clock::now() + std::chrono::minutes(2); }
inline Timeout for_long() { return Timeout(std::chrono::minutes(2)); }
inline Timeout shortly() { return Timeout(milliseconds(300)); }

inline Rendezvous at(const std::string& host, int port, int ports = 1) {
  return {.host = host, .port = port, .ports = ports};
}

using Joining = std::future<std::unique_ptr<Connection>>;
inline Joining joining(const Rendezvous& place, const std::string& nonce, int rank) {
  return std::async(std::launch::async, [=] { return join(place, nonce, rank, for_long()); });
}

inline std::string why_not(const Rendezvous& place, const std::string& nonce, int rank,
                           Timeout timeout) {
  try {
    join(place, nonce, rank, std::move(timeout));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kDeviceFault);
    return error.what();
  }
  return "joined";
}

// A listener of another program, which never answers.
struct ForeignListener {
  ForeignListener() : socket(listen_at(0)) { EXPECT_TRUE(socket); }
  explicit ForeignListener(Descriptor listener) : socket(std::move(listener)) {}
  int port() const { return port_of(socket.get()); }
  Descriptor socket;
};

// On a slow machine only a joiner that waits long enough gets as far as that.
inline bool reports_in_the_end(const Rendezvous& place, const std::string& nonce,
                               const std::string& words) {
  return tests::becomes_true([&] {
    const std::string why = why_not(place, nonce, 1, shortly());
    EXPECT_NE(why, "joined");
    return why.find(words) != std::string::npos;
  });
}

// An acceptor with a thread of its own, for peers that are rejected.
class ServedAcceptor {
 public:
  ServedAcceptor(const Rendezvous& place, const std::string& nonce, int size)
      : acceptor(place, nonce, size), thread_([this] {
          while (!done_) {
            if (auto one = acceptor.accept(steady_clock::now() + milliseconds(20))) {
              const std::lock_guard lock(mutex_);
              arrived_.push_back(std::move(*one));
            }
          }
        }) {}
  ~ServedAcceptor() {
    done_ = true;
    thread_.join();
  }
  std::vector<int> ranks() {
    const std::lock_guard lock(mutex_);
    std::vector<int> all;
    for (const AcceptedPeer& one : arrived_) all.push_back(one.rank);
    return all;
  }

  Acceptor acceptor;

 private:
  std::mutex mutex_;
  std::vector<AcceptedPeer> arrived_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace engine::comm
