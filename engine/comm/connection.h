// A TCP connection between two ranks that carries whole messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/comm/timeout.h"
#include "engine/launch/rank_identity.h"

namespace engine::comm {

using Deadline = std::chrono::steady_clock::time_point;

struct Message {
  uint32_t kind = 0;
  std::vector<std::byte> body;
};

// The other side closed the connection, or it broke.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Connection {
 public:
  // Takes over a connected socket. `peer`: in words, for messages ("rank 3 on node7").
  Connection(int socket, std::string peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // From any thread; returns when the message is handed to the kernel, and gives up as lost when
  // the other side takes nothing for `patience`. Throws ConnectionLost.
  void send(const Message& message, std::chrono::milliseconds timeout);
  // One whole message; nothing when none is whole at the deadline: what has come of it is kept for
  // the next call. For one thread at a time. Throws ConnectionLost when the connection has ended;
  // what came before is still received, although sending fails already.
  std::optional<Message> receive(Deadline deadline);
  // From any thread: whoever sends or receives gets ConnectionLost at once.
  void shut_down();
  // Gives up the socket, which is the caller's from now on; it does not block. Nothing of what came
  // may have been received in part.
  int release();

  const std::string& peer() const;
  // The numeric address of this side: one that the other side can reach.
  std::string local_address() const;

 private:
  struct Socket;
  std::unique_ptr<Socket> socket_;
};

// A rank that proved to be of this run.
struct AcceptedPeer {
  int rank = 0;
  std::string host;
  std::unique_ptr<Connection> connection;
};

// Rank 0's side of the rendezvous: listens, and says where in the shared file if there is one (by
// a rename; what an earlier attempt left there is replaced, and removed at the end).
class Acceptor {
 public:
  // Listens on the first free one of the place's ports. Throws Error(kBadInput) naming ports or
  // file when it cannot.
  Acceptor(const Rendezvous& place, std::string nonce, int size);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  int port() const;
  // The next rank that arrives. A stranger, another run's rank, a rank that is out of range or has
  // arrived before is turned away (one that turns up a second time is told so). Nothing at the
  // deadline.
  std::optional<AcceptedPeer> accept(Deadline deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The other ranks' side: tries until rank 0 of this very run answers. Looks at the file again and
// again, since another host's file system may show it late, or an earlier attempt's first. Throws
// Error(kDeviceFault) when patience ends, telling where it tried and what it met there.
std::unique_ptr<Connection> join(const Rendezvous& place, const std::string& nonce, int rank,
                                 Timeout timeout);
// The same, where rank 0 is known to be at one of these.
std::unique_ptr<Connection> join(const std::vector<std::string>& addresses, int port,
                                 const std::string& nonce, int rank, Timeout timeout);

}  // namespace engine::comm
