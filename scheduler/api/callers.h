// Who is behind a connection, by the system's user database.
#pragma once

#include "scheduler/api/unix_socket.h"
#include "scheduler/commands/commands.h"

namespace scheduler::api {

// Root and the daemon's own user are privileged.
Caller caller_of(const Peer& peer);

}  // namespace scheduler::api
