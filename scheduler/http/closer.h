// Closes the sockets of clients and the files that they passed. A close may take as long as a
// client likes (a socket that lingers, a file on the user's own file system), so a separate thread
// for each user closes that user's descriptors one after the other, and nothing waits for it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "scheduler/http/admission.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {

// May be called by several threads at once.
class Closer {
 public:
  Closer();
  void close(uid_t uid, std::vector<Descriptor> descriptors);
  // How many calls of close() for this user are not done while the oldest of them has run for over
  // a second; 0: none is stuck.
  int stuck(uid_t uid, Time now) const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // its threads may outlive this object
};

}  // namespace scheduler::api
