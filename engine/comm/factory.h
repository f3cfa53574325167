// Makes the kinds of communicator. All use of Gloo and of NCCL is behind these functions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace engine::comm {

// Makes the communicator of a single process: nothing is sent.
std::unique_ptr<Communicator> alone();

// Small named values, kept by rank 0, that ranks exchange before they are connected to each other.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(const std::string& name, const std::vector<char>& value) = 0;
  // Waits until a rank has put a value of this name. Throws CommunicatorLost after the ranks'
  // timeout.
  virtual std::vector<char> get(const std::string& name) = 0;
};

struct GroupConfig {
  int rank = 0;  // in this group
  int size = 1;
  std::string name;  // differs between groups of one run; a prefix of the keys in the store
  // Numeric addresses by which others have reached this rank. Its host's other addresses are tried,
  // too.
  std::vector<std::string> addresses{};
  std::chrono::milliseconds timeout{60'000};  // for every operation
  // Returning true ends every wait within the group at once. May be empty.
  std::function<bool()> is_cancelled{};
};

// Connects CPU ranks. Throws CommunicatorLost when a rank does not connect in time, and
// Error(kDeviceFault) where this build has no Gloo.
std::unique_ptr<Communicator> make_gloo(const GroupConfig& config, Store& store);
bool has_gloo();

// Connects CUDA ranks, one device each. Opens NCCL's library. Throws CommunicatorLost when a rank
// does not connect in time, and Error(kDeviceFault) where this build has no NCCL or its library
// cannot be opened.
std::unique_ptr<Communicator> make_nccl(const GroupConfig& config, Store& store, int device);
// True where this build has NCCL and its library can be opened.
bool has_nccl();

}  // namespace engine::comm
