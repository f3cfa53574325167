// The messages between rank 0 and the other ranks, and their encoding as bytes (wire.h). Pure
// functions. Both sides run the same build, so that the format needs no version.
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

// Names the device that the rank is going to use.
struct DeviceClaim {
  std::string identity;  // RankDevice::identity
};
// The rank has started its device; it requests work from now on.
struct Ready {
  int batch = 1;
  std::string device;     // a description
  std::string signature;  // of numerics_signature()
};
// The rank has done the first `done` units of its chunk, and requests the next chunk.
struct WorkRequest {
  uint32_t done = 0;
  double best_z = 0;  // of its own correlations; 0: not known
};
// The rank was asked to stop, by a signal.
struct StopRequest {};

// From rank 0 -------------------------------------------------------------------------------------

// Every rank has arrived: the inputs follow by a communicator of this kind.
struct Start {
  std::string communicator;  // "gloo", "nccl"
};
// Order (coordinator.h) is sent from rank 0, too.

// In both directions ------------------------------------------------------------------------------

struct Heartbeat {};  // alive
// Says to rank 0 why the rank ends, or from rank 0 why the search ends.
struct Failed {
  int code = 0;  // ExitCode
  std::string what;
};
// A value of comm::Store.
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
