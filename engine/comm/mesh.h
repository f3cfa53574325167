// A connection between every two ranks of a group, which carries the bytes of Gloo's collectives.
//
// Gloo's own transport lets whatever connects first to one of its ports take a rank's place, and
// what it sends can end the process; here each connection is accepted by an Acceptor, which knows
// the group's nonce. For one thread at a time: bytes move while that thread sends or waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/factory.h"
#include "engine/comm/sockets.h"
#include "engine/comm/timeout.h"

namespace engine::comm {

class Mesh {
 public:
  // Connects. Throws CommunicatorLost when a rank does not connect within the group's timeout.
  Mesh(const GroupConfig& config, Store& store);
  ~Mesh();

  // Each counts up `completed` when it is done. What is sent to a rank must be received there in
  // the same order, by the same slot and length. Bytes and counter live until then, or until the
  // mesh is gone.
  void send(int rank, uint64_t slot, std::span<const std::byte> bytes, int& completed);
  void receive(int rank, uint64_t slot, std::span<std::byte> bytes, int& completed);
  // Until `done`. Throws CommunicatorLost when no byte has moved for the group's timeout, when the
  // group is cancelled, or as soon as a rank is gone that bytes are still to come from or to go to.
  void wait(const std::function<bool()>& done);

 private:
  struct Head {
    uint64_t slot = 0, length = 0;
  };
  template <typename Byte>
  struct Transfer {
    Head head;
    std::span<Byte> bytes;
    int* completed = nullptr;
  };
  struct Peer {
    Descriptor socket;
    std::deque<Transfer<const std::byte>> out;
    std::deque<Transfer<std::byte>> in;
    size_t sent = 0;      // of the first one out, with its head
    Head head{};          // of what is arriving
    size_t received = 0;  // with the head
  };

  void join_lower_ranks(Store& store);
  void accept_higher_ranks(class Acceptor& acceptor);
  Timeout timeout() const;
  bool write(int rank);
  bool read(int rank);
  [[noreturn]] void lose(int rank, const std::string& why) const;
  [[noreturn]] void throw_silent() const;
  void throw_if_cancelled() const;

  const GroupConfig config_;
  std::vector<Peer> peers_;
};

}  // namespace engine::comm
