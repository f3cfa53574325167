// Rank 0's side of the rendezvous: listens and accepts the ranks of its own run.
//
// Unauthenticated peers are rejected: a connection counts once its rank has shown the run's nonce
// and has confirmed that it was accepted (handshake.h). A connection that has not done so within
// 5 s, without the time in which this process was suspended, is closed. An Acceptor may be used by
// one thread at a time.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/descriptor.h"
#include "engine/comm/connection.h"
#include "engine/comm/framing.h"
#include "engine/comm/handshake.h"
#include "engine/comm/timeout.h"
#include "engine/launch/rank_identity.h"

namespace engine::comm {

// A rank that has proved that it belongs to this run.
struct AcceptedPeer {
  int rank = 0;
  std::string host;
  std::unique_ptr<Connection> connection;
};

class Acceptor {
 public:
  // Listens at the first free port of the rendezvous. If the rendezvous has a file, publishes the
  // address in it by a rename, which replaces the file of an earlier attempt. Throws InputError
  // naming the ports or the file that cannot be used.
  Acceptor(const Rendezvous& rendezvous, std::string nonce, int size);
  // Removes the file unless another attempt has replaced it.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  int port() const;
  // Returns the next rank that connects; nullopt at the deadline. A rank that is of another run,
  // out of range or already accepted is rejected with the reason. Throws Error(kDeviceFault) when
  // this process may open no more files.
  std::optional<AcceptedPeer> accept(Deadline deadline);

 private:
  // A connection whose peer has not yet proved which rank it is.
  struct Pending {
    explicit Pending(int number);

    base::Descriptor socket;
    Timeout timeout;
    FrameReader reader;
    std::optional<Hello> hello;
    bool welcomed = false;  // accepted, and still has to confirm it
  };

  void accept_new();
  void wait(Deadline deadline);
  void serve();
  // Returns false when the connection is to be closed.
  bool serve(Pending& peer);
  bool read_hello(Pending& peer);
  bool reply(Pending& peer);
  bool is_welcomed_elsewhere(const Pending& peer) const;

  const std::string file_, nonce_;
  const int size_;
  const std::string host_;
  std::string written_;  // the text that was written into the file
  base::Descriptor listener_;
  std::list<Pending> pending_;  // the oldest first
  std::set<int> taken_;
  std::list<AcceptedPeer> arrived_;
};

}  // namespace engine::comm
