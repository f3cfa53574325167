// A TCP connection between two ranks that carries whole messages, in order.
//
// Threads: any number may send; one at a time may receive, beside them. Errors: every call throws
// ConnectionLost once the connection has ended, and the message names the peer and the reason. A
// connection that was lost stays lost.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

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

  const std::string& peer() const;
  // The numeric address of this side, by which the peer can reach it.
  std::string local_address() const;

 private:
  struct Socket;
  std::unique_ptr<Socket> socket_;
};

}  // namespace engine::comm
