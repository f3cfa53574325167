// A plain TCP connection, as any program on the network may make one.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <string>

#include "engine/comm/sockets.h"

namespace tests {

// The first of the host's addresses that accepts; none where nothing listens there.
inline base::Descriptor connect_to(const std::string& host, int port) {
  using std::chrono::steady_clock;
  std::string why;
  for (const auto& address : engine::comm::resolve(host, port, why)) {
    base::Descriptor socket = engine::comm::begin_to_connect(address, why);
    if (!socket || !engine::comm::wait_for_events(socket.get(), POLLOUT,
                                                  steady_clock::now() + std::chrono::minutes(1))) {
      continue;
    }
    if (engine::comm::connection_error(socket.get()).empty()) return socket;
  }
  return base::Descriptor();
}

}  // namespace tests
