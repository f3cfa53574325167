// A TCP connection between two ranks that carries whole messages, in order.
//
// Threads: any number may send; one at a time may receive, beside them. Errors: every call throws
// ConnectionLost once the connection has ended, and the message names the peer and the reason. A
// connection that was lost stays lost.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/descriptor.h"
#include "engine/comm/framing.h"
#include "engine/comm/message.h"

namespace engine::comm {

// The peer closed the connection, stopped reading, or it broke.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Connection {
 public:
  // Takes over a connected socket. `peer` names the other side in messages ("rank 3 on node7").
  Connection(int socket, std::string peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Returns when the message is handed to the kernel. A peer that takes nothing for `timeout` is
  // lost, to the thread that receives as well.
  void send(const Message& message, std::chrono::milliseconds timeout);
  // One whole message; nullopt when none is whole at the deadline: what has come of it is kept for
  // the next call. What the peer sent before it closed the connection is still received, although
  // sending fails already.
  std::optional<Message> receive(Deadline deadline);
  // Wakes all threads that send or receive: the connection is lost to them for this reason; where
  // none is given, because it "was ended here".
  void shut_down(const std::string& why = "");
  // Gives up the socket, which is the caller's from now on and does not block. No message may have
  // been received in part.
  int release();

  const std::string& peer() const { return peer_; }
  // The numeric address of this side, by which the peer can reach it.
  std::string local_address() const;

 private:
  [[noreturn]] void lose(const std::string& why) const;
  void throw_if_shut_down();

  base::Descriptor socket_;
  const std::string peer_;
  std::mutex ending_;  // guards `shut_` and `shut_reason_`
  bool shut_ = false;
  std::string shut_reason_;
  std::mutex sending_;
  std::string broken_;  // guarded by `sending_`: why nothing can be sent any more
  FrameReader reader_;  // for the one thread that receives
};

}  // namespace engine::comm
