// A connection between every two ranks of a group, which carries the bytes of Gloo's collectives.
//
// In Gloo's own transport any program that connects first to one of its ports takes a rank's place,
// and what it sends can crash the process; here an Acceptor, which knows the group's nonce, accepts
// each connection. A mesh may be used by one thread at a time: bytes move while that thread sends
// or waits.
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
  // Connects the ranks. Throws CommunicatorLost when one does not connect within the group's
  // timeout.
  Mesh(const GroupConfig& config, Store& store);
  ~Mesh();

  // send() and receive() each increment `completed` when the transfer is done. A rank must receive
  // in the order in which it is sent to, with the same slots and lengths. `bytes` and `completed`
  // must live until the transfer is done or the mesh is destroyed.
  void send(int rank, uint64_t slot, std::span<const std::byte> bytes, int& completed);
  void receive(int rank, uint64_t slot, std::span<std::byte> bytes, int& completed);
  // Waits until `done` returns true. Throws CommunicatorLost when no byte has moved for the group's
  // timeout, when the group is cancelled, or as soon as a rank with unfinished transfers is gone.
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
    size_t sent = 0;      // bytes of the first transfer in `out`, including its head
    Head head{};          // of the transfer that is arriving
    size_t received = 0;  // bytes of it, including the head
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
