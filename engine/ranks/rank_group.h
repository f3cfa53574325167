// What rank 0 and the others have in common while they search together.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/connection.h"
#include "engine/comm/factory.h"
#include "engine/comm/timeout.h"
#include "engine/launch/rank_identity.h"
#include "engine/ranks/coordinator.h"
#include "engine/ranks/watchdog.h"

namespace engine {

struct RankGroupOptions {
  RankPlace place;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // --rank-timeout
  bool continue_on_rank_loss = false;                            // --on-rank-loss continue
  int chunk = 0;                                    // units that a rank gets at once; 0: chosen
  std::string collectives = "auto";                 // auto, gloo, nccl
  std::function<void(const std::string&)> message;  // one sentence for the user
};

// A time-out, for messages.
std::string seconds_text(std::chrono::milliseconds time);

// The next message of a link, if the other side is silent for less than `timeout`. Time in which
// this process was suspended does not count. Throws ConnectionLost.
std::optional<comm::Message> receive_within(comm::Connection& connection,
                                            std::chrono::milliseconds timeout);

// Whether one of these is an order to merge.
bool has_merge(const std::deque<Order>& orders);

// Small values that ranks left for each other.
class LocalStore {
 public:
  void put(const std::string& name, std::vector<char> value);
  // Throws CommunicatorLost when patience ends, or at once after close().
  std::vector<char> get(const std::string& name, comm::Timeout timeout);
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<char>> values_;
  bool closed_ = false;
};

// The communicator of whoever takes part in a round. It is kept while they are the same.
class GroupCommunicator {
 public:
  struct Place {
    std::string kind{};  // "gloo", "nccl"
    int rank = 0;
    std::vector<std::string> addresses{};  // and is_cancelled: see comm::GroupConfig
    std::chrono::milliseconds timeout{0};
    std::function<bool()> is_cancelled{};
    int device = 0;  // of nccl
  };
  GroupCommunicator(Place place, comm::Store& store) : place_(std::move(place)), store_(store) {}

  // `name` differs between the groups of one run. Throws CommunicatorLost.
  Communicator& of(const std::vector<int>& participants, const std::string& name);
  // What it was doing was lost.
  void drop() { communicator_.reset(); }

 private:
  Place place_;
  comm::Store& store_;
  std::vector<int> participants_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace engine
