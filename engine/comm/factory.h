// The kinds of communicator. Each of Gloo and NCCL has a file of its own that alone knows it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace engine::comm {

// Of a process without others: nothing is sent.
std::unique_ptr<Communicator> alone();

// What ranks tell each other before they are connected: small values by name, through rank 0.
class Store {
 public:
  virtual ~Store() = default;
  virtual void put(const std::string& name, const std::vector<char>& value) = 0;
  // Waits. Throws CommunicatorLost after the ranks' time-out.
  virtual std::vector<char> get(const std::string& name) = 0;
};

struct GroupConfig {
  int rank = 0;  // in this group
  int size = 1;
  std::string name;  // differs between groups of one run; begins the names of its notices
  // Numeric, by which others have reached this rank. Its host's others are tried, too.
  std::vector<std::string> addresses{};
  std::chrono::milliseconds timeout{60'000};  // of every operation
  // Whether the group is of no use any more: who waits in it gives up at once.
  std::function<bool()> is_cancelled{};
};

// For CPU ranks. Throws CommunicatorLost when a rank does not connect in time, Error(kDeviceFault)
// where this build has none.
std::unique_ptr<Communicator> make_gloo(const GroupConfig& place, Store& store);
bool has_gloo();

// For CUDA ranks, one device each. NCCL is opened when this is called. Throws as make_gloo, and
// Error(kDeviceFault) where NCCL cannot be opened.
std::unique_ptr<Communicator> make_nccl(const GroupConfig& place, Store& store, int device);
// Whether this build has it and it can be opened.
bool has_nccl();

}  // namespace engine::comm
