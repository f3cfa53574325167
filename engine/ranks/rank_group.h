// What a rank is in a search by several: the part that is the same for rank 0 (leader.h) and the
// others (worker.h).
//
// A session has a mutex, the orders for the thread that computes, the first failure, the
// communicator of the ranks that take part in a round, and a thread that sends heartbeats and ticks
// the watchdog. next(), communicator_for() and communicator_lost() are for the thread that
// computes.
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
  int chunk = 0;                                    // units that a rank gets at once; 0: chosen
  std::string collectives = "auto";                 // auto, gloo, nccl
  std::function<void(const std::string&)> message;  // one sentence for the user
  std::function<void(const std::string&)> log{};    // one line of rank 0's, for the log alone
};

// Rank 0 ended the search and has reported why: this rank has nothing to add.
class EndedByLeader : public Error {
 public:
  using Error::Error;
};

// A timeout, for messages: "60 s".
std::string seconds_text(std::chrono::milliseconds time);

// The next message of a connection; nullopt when the peer is silent for `timeout`. Time in which
// this process was suspended does not count. Throws ConnectionLost.
std::optional<comm::Message> receive_within(comm::Connection& connection,
                                            std::chrono::milliseconds timeout);

class RankSession : public comm::Store {
 public:
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  // The next order for this rank; nullopt when none comes in this time. Throws what ended the
  // search: at a worker EndedByLeader where rank 0 ended it, else Error.
  std::optional<Order> next(std::chrono::milliseconds wait);
  // Of the ranks that take part in an order to merge. Throws CommunicatorLost.
  Communicator& communicator_for(const Order& merge);
  // CommunicatorLost was thrown: another round must follow, or the end, within two timeouts.
  void communicator_lost(const std::string& why);
  // The chunk is to be left after this batch.
  bool should_yield() const { return should_yield_; }
  Watchdog& watchdog() { return watchdog_; }

  // A value that any rank has put(). Throws CommunicatorLost after the timeout, or at once when a
  // newer round or the end makes it useless.
  std::vector<char> get(const std::string& name) override;

 protected:
  using Clock = std::chrono::steady_clock;
  // How long those that have to end may take to do so by themselves.
  static constexpr std::chrono::milliseconds kGrace{5000};

  explicit RankSession(RankGroupOptions options);
  ~RankSession() override = default;

  // The communicator of all ranks. `addresses`: numeric, by which this rank was reached.
  Communicator& first_communicator(const std::string& kind, int device,
                                   std::vector<std::string> addresses);
  // Until the end of the session: calls heartbeat() several times within each timeout, and ends the
  // process where the thread that computes does not come back to take a failure.
  void run_heartbeats();
  // `hang`: what hangs, by the watchdog; empty: nothing. Called without the mutex.
  virtual void heartbeat(const std::string& hang) = 0;

  // With the mutex held:
  void take(Order order);
  void keep(const std::string& name, std::vector<char> value);
  // False, and no effect, after the first.
  bool set_failure(const Error& failure);
  void throw_failure();
  void end_session();

  const RankGroupOptions options_;
  Watchdog watchdog_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Order> orders_;
  std::optional<Error> failure_;  // the first
  bool failure_taken_ = false;    // the thread that computes knows it, or needs not
  bool ended_by_leader_ = false;  // the failure
  bool ending_ = false;           // this object

 private:
  bool is_superseded() const;
  void exit_if_stuck(const std::string& hang);
  Communicator& communicator(const std::vector<int>& participants, const std::string& name);

  std::map<std::string, std::vector<char>> values_;  // guarded by the mutex, as the next three
  Clock::time_point failed_at_;
  std::optional<comm::Timeout> until_next_round_;
  std::string communicator_lost_why_;
  std::atomic<bool> should_yield_ = false;

  // For the thread that computes. The communicator is kept while the participants are the same.
  comm::GroupConfig config_;
  std::string kind_;  // "gloo", "nccl"
  int device_ = 0;
  std::vector<int> participants_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace engine
