// A TCP connection between two ranks that carries whole messages, in order.
//
// Any number of threads may send at the same time, and one more may receive. Every call throws
// ConnectionLost once the connection has ended; the message names the peer and the reason. A
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

  // Returns when the kernel has taken the message. A peer that takes nothing for `timeout` is lost,
  // for the receiving thread as well.
  void send(const Message& message, std::chrono::milliseconds timeout);
  // Returns one whole message, or nullopt at the deadline; a part of a message is kept for the next
  // call. Messages that the peer sent before it closed the connection are still received, although
  // sending already fails.
  std::optional<Message> receive(Deadline deadline);
  // Ends the connection and wakes all threads that send or receive: they get ConnectionLost with
  // this reason, or with "was ended here" where `why` is empty.
  void shut_down(const std::string& why = "");
  // Hands the socket, which is non-blocking, over to the caller. No message may have been received
  // in part.
  int release();

  const std::string& peer() const { return peer_; }
  // Returns the numeric address by which the peer reaches this side.
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
  std::string broken_;  // guarded by `sending_`: why sending fails; empty: it does not
  FrameReader reader_;  // used only by the thread that receives
};

}  // namespace engine::comm
