// Makes the kinds of communicator. Gloo and NCCL are each known to one file of their own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace engine::comm {

// For a process without others: nothing is sent.
std::unique_ptr<Communicator> alone();

// Small values by name, through rank 0, that ranks need of each other before they are connected.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(const std::string& name, const std::vector<char>& value) = 0;
  // Waits until a rank has put it. Throws CommunicatorLost after the ranks' timeout.
  virtual std::vector<char> get(const std::string& name) = 0;
};

struct GroupConfig {
  int rank = 0;  // in this group
  int size = 1;
  std::string name;  // differs between groups of one run; a prefix of the keys in the store
  // Numeric, by which others have reached this rank. Its host's other addresses are tried, too.
  std::vector<std::string> addresses{};
  std::chrono::milliseconds timeout{60'000};  // for every operation
  // True ends every wait within the group at once.
  std::function<bool()> is_cancelled{};
};

// For CPU ranks. Throws CommunicatorLost when a rank does not connect in time, Error(kDeviceFault)
// where this build has none.
std::unique_ptr<Communicator> make_gloo(const GroupConfig& config, Store& store);
bool has_gloo();

// For CUDA ranks, one device each. NCCL is opened when this is called. Throws as make_gloo, and
// Error(kDeviceFault) where NCCL cannot be opened.
std::unique_ptr<Communicator> make_nccl(const GroupConfig& config, Store& store, int device);
// True where this build has NCCL and its library can be opened.
bool has_nccl();

}  // namespace engine::comm
