// What ranks and rank 0 say to each other over their links, as bytes. Pure.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "engine/comm/connection.h"
#include "engine/ranks/coordinator.h"

namespace engine {

// To rank 0 ---------------------------------------------------------------------------------------

// What it is going to search on, as RankDevice has it.
struct DeviceClaim {
  std::string identity;
};
// The rank has its device; it asks from now on.
struct Ready {
  int batch = 1;
  std::string device;     // in words
  std::string signature;  // numerics_signature
};
// The first `done` units of the chunk are done; the next, please.
struct WorkRequest {
  uint32_t done = 0;
  double best_z = 0;  // of its own correlations; 0: not known
};
// Somebody asked this rank to stop (a signal).
struct StopRequest {};

// From rank 0 -------------------------------------------------------------------------------------

// Every rank is there: the inputs follow by a communicator of this kind.
struct Start {
  std::string communicator;  // "gloo", "nccl"
};
// Also Order (coordinator.h).

// Either way --------------------------------------------------------------------------------------

struct Heartbeat {};  // alive
// To rank 0: cannot go on, and why. From it: the search ends, and why.
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

// Bytes that are no message of ours.
class MalformedMessage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

comm::Message encode(const RankMessage& message);
// Throws StrangeMessage.
RankMessage decode(const comm::Message& message);

}  // namespace engine
