// A rank's part in a search by several ranks, as far as it is the same for rank 0 (leader.h) and
// the others (worker.h).
//
// A session has a mutex, the orders for the computing thread, the first failure, the communicator
// of the ranks in the current round, and a thread that sends heartbeats and ticks the watchdog.
// Only the computing thread may call next(), communicator_for() and communicator_lost().
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/connection.h"
#include "engine/comm/factory.h"
#include "engine/comm/timeout.h"
#include "engine/error.h"
#include "engine/launch/rank_identity.h"
#include "engine/ranks/coordinator.h"
#include "engine/ranks/watchdog.h"

namespace engine {

struct RankGroupOptions {
  RankPlace place;
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // --rank-timeout
  bool continue_on_rank_loss = false;                            // --on-rank-loss continue
  int chunk = 0;                                    // units that a rank gets at once; 0: automatic
  std::string collectives = "auto";                 // auto, gloo, nccl
  std::function<void(const std::string&)> message;  // one sentence for the user
  std::function<void(const std::string&)> log{};    // one line of rank 0, only for the log
};

// Rank 0 has ended the search and reported why, so that this rank reports nothing.
class EndedByLeader : public Error {
 public:
  using Error::Error;
};

// Returns a timeout for messages, in whole seconds: "60 s".
std::string seconds_text(std::chrono::milliseconds time);

// Returns the next message of a connection; nullopt when the peer is silent for `timeout`. Time in
// which this process was suspended does not count. Throws ConnectionLost.
std::optional<comm::Message> receive_within(comm::Connection& connection,
                                            std::chrono::milliseconds timeout);

class RankSession : public comm::Store {
 public:
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  // Returns the next order for this rank; nullopt when none comes within `wait`. Throws the error
  // that ended the search: EndedByLeader on a worker whose search rank 0 ended, else Error.
  std::optional<Order> next(std::chrono::milliseconds wait);
  // Returns the communicator of the ranks that take part in this order to merge. Throws
  // CommunicatorLost.
  Communicator& communicator_for(const Order& merge);
  // Reports that CommunicatorLost was thrown. next() throws Error(kDeviceFault) unless another
  // round or the end follows within two timeouts.
  void communicator_lost(const std::string& why);
  // True when the rank is to stop its chunk after this batch.
  bool should_yield() const { return should_yield_; }
  Watchdog& watchdog() { return watchdog_; }

  // Waits for a value that any rank has put(). Throws CommunicatorLost after the timeout, or at
  // once when a newer round or the end makes the value useless.
  std::vector<char> get(const std::string& name) override;

 protected:
  using Clock = std::chrono::steady_clock;
  // How long ranks and threads that have to end may take to end by themselves.
  static constexpr std::chrono::milliseconds kGrace{5000};

  explicit RankSession(RankGroupOptions options);
  ~RankSession() override = default;

  // Makes the communicator of all ranks. `addresses` are numeric addresses by which this rank was
  // reached.
  Communicator& first_communicator(const std::string& kind, int device,
                                   std::vector<std::string> addresses);
  // Calls heartbeat() several times within each timeout until the session ends. Ends the process
  // when the computing thread does not take a failure within kGrace.
  void run_heartbeats();
  // `hang` is what the watchdog says hangs; empty: nothing. Called without the mutex.
  virtual void heartbeat(const std::string& hang) = 0;

  // With the mutex held:
  void take(Order order);
  void keep(const std::string& name, std::vector<char> value);
  // Keeps the first failure. Returns false, and does nothing, for a later one.
  bool set_failure(const Error& failure);
  void throw_failure();
  void end_session();

  const RankGroupOptions options_;
  Watchdog watchdog_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Order> orders_;
  std::optional<Error> failure_;  // the first one
  bool failure_taken_ = false;    // the computing thread has it, or does not need it
  bool ended_by_leader_ = false;  // the failure came from rank 0
  bool ending_ = false;           // this object is being destroyed

 private:
  bool is_superseded() const;
  void exit_if_stuck(const std::string& hang);
  Communicator& communicator(const std::vector<int>& participants, const std::string& name);

  std::map<std::string, std::vector<char>> values_;  // guarded by the mutex, as the next three
  Clock::time_point failed_at_;
  std::optional<comm::Timeout> until_next_round_;
  std::string communicator_lost_why_;
  std::atomic<bool> should_yield_ = false;

  // Used only by the computing thread. The communicator is kept while the participants are the
  // same.
  comm::GroupConfig config_;
  std::string kind_;  // "gloo", "nccl"
  int device_ = 0;
  std::vector<int> participants_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace engine
