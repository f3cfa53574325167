// The other ranks' side of the rendezvous: connects to rank 0 of the same run.
//
// join() tries the addresses in turn, in rounds until `timeout`; each round waits longer at each
// address. Throws Error(kDeviceFault) when the timeout expires, naming what was found at each
// address, or at once when rank 0 rejects this rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/comm/connection.h"
#include "engine/comm/timeout.h"
#include "engine/launch/rank_identity.h"

namespace engine::comm {

// The file of a rendezvous is read anew in each round, since a shared file system may show it late,
// or show an earlier attempt's file first.
std::unique_ptr<Connection> join(const Rendezvous& rendezvous, const std::string& nonce, int rank,
                                 Timeout timeout);
// Does the same where rank 0 listens at `port` of one of these numeric addresses.
std::unique_ptr<Connection> join(const std::vector<std::string>& addresses, int port,
                                 const std::string& nonce, int rank, Timeout timeout);

}  // namespace engine::comm
