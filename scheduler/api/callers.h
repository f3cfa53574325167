// Who is behind a connection, by the system's user database.
#pragma once

#include "scheduler/commands/commands.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {

// Root and the daemon's own user are privileged.
Caller caller_of(const Peer& peer);

}  // namespace scheduler::api
