// Closes what came from clients: their sockets, and the files that they passed. A close may take as
// long as a client likes (a socket that lingers, a file on a file system of the user's own), so
// each user's are closed one after the other by a thread of that user's, which nobody waits for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "scheduler/api/admission.h"
#include "scheduler/api/unix_socket.h"

namespace scheduler::api {

// May be called by several threads at once.
class Closer {
 public:
  Closer();
  void close(uid_t uid, std::vector<Descriptor> descriptors);
  // How many calls of close() for this user are not done although the first of them has had a
  // second.
  int stuck(uid_t uid, Time now) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // its threads may outlive this object
};

}  // namespace scheduler::api
