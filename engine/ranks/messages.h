// The messages between rank 0 and the other ranks, and their encoding as bytes. Pure. Both sides
// run the same build, so that the format carries no version; numbers are in the host's byte order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/comm/connection.h"
#include "engine/comm/wire.h"
#include "engine/ranks/coordinator.h"

namespace engine {

// To rank 0 ---------------------------------------------------------------------------------------

// The device that the rank is going to use, as RankDevice has it.
struct DeviceClaim {
  std::string identity;
};
// The rank has started its device; it requests work from now on.
struct Ready {
  int batch = 1;
  std::string device;     // in words
  std::string signature;  // numerics_signature
};
// The first `done` units of the chunk are done; the rank requests the next.
struct WorkRequest {
  uint32_t done = 0;
  double best_z = 0;  // of its own correlations; 0: not known
};
// The rank was asked to stop, by a signal.
struct StopRequest {};

// From rank 0 -------------------------------------------------------------------------------------

// Every rank is there: the inputs follow by a communicator of this kind.
struct Start {
  std::string communicator;  // "gloo", "nccl"
};
// Also Order (coordinator.h).

// Either way --------------------------------------------------------------------------------------

struct Heartbeat {};  // alive
// To rank 0: why the rank ends. From rank 0: why the search ends.
struct Failed {
  int code = 0;  // ExitCode
  std::string what;
};
// For comm::Store.
struct StoreEntry {
  std::string name;
  std::vector<char> value;
};

using RankMessage = std::variant<DeviceClaim, Ready, WorkRequest, StopRequest, Start, Order,
                                 Heartbeat, Failed, StoreEntry>;

using comm::MalformedMessage;

comm::Message encode(const RankMessage& message);
// Throws MalformedMessage.
RankMessage decode(const comm::Message& message);

}  // namespace engine
