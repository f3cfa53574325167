// The other ranks' side of the rendezvous: connects to rank 0 of this very run.
//
// Addresses are tried in turn, again and again until `timeout`; each address gets longer from round
// to round. Throws Error(kDeviceFault) when the timeout expires, naming what was found at each
// address, or at once when rank 0 rejects this rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/comm/connection.h"
#include "engine/comm/timeout.h"
#include "engine/launch/rank_identity.h"

namespace engine::comm {

// A rendezvous by file is read anew in each round, since another host's file system may show the
// file late, or an earlier attempt's first.
std::unique_ptr<Connection> join(const Rendezvous& rendezvous, const std::string& nonce, int rank,
                                 Timeout timeout);
// The same where rank 0 listens at one of these numeric addresses.
std::unique_ptr<Connection> join(const std::vector<std::string>& addresses, int port,
                                 const std::string& nonce, int rank, Timeout timeout);

}  // namespace engine::comm
