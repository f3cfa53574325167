// Rank 0's side of a search by several ranks: it waits for them, hands out the work, hears whether
// they live, and knows the first thing that went wrong. Of a search by one process it is the same
// without others: no thread, no socket.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/acceptor.h"
#include "engine/comm/send_queue.h"
#include "engine/error.h"
#include "engine/ranks/coordinator.h"
#include "engine/ranks/messages.h"
#include "engine/ranks/rank_group.h"

namespace engine {

// What rank 0 knows of another.
struct PeerInfo {
  int rank = 0;
  std::string host;
  std::string device;  // in words; empty: not told yet
};

class Leader : public comm::Store {
 public:
  // From now on ranks may arrive.
  explicit Leader(RankGroupOptions options);
  // Those who are still there are told to end.
  ~Leader() override;
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  int size() const { return options_.place.size; }
  bool can_lose_ranks() const { return size() > 1 && options_.continue_on_rank_loss; }

  // Waits until every rank has arrived, and lets all of them make a communicator of this kind.
  // `device`: for nccl; `identity`: see RankDevice. Throws Error(kDeviceFault) naming those who did
  // not come in time, UsageError naming those who have the same device.
  Communicator& assemble(const std::string& kind, int device, const std::string& identity,
                         const std::atomic<bool>& stop);

  // From now on there is work. See Coordinator. `way`: rank 0's numerics_signature; who has another
  // ends the search with a usage error that names it.
  void begin(std::vector<int32_t> costs, std::vector<bool> finished, int batch,
             const std::string& signature);
  void ask(uint32_t done);
  void request_merge(bool stop);
  // The next order for rank 0, if one comes in this time. Throws what ended the search: Error with
  // the words of the rank that failed first.
  std::optional<Order> next(std::chrono::milliseconds wait);
  // Of those who take part in an order to merge. Throws CommunicatorLost.
  Communicator& communicator_for(const Order& merge);
  // CommunicatorLost was thrown: there will be another round, or the end.
  void communicator_lost(const std::string& why);
  // Rank 0 has the sums of this round. False: a rank was lost meanwhile, they are of no use.
  bool merged(int round);
  // The search is done or stopped, and all of it merged. What ends it is an order after end().
  bool over() const;
  void end();
  // Rank 0 is to leave its chunk after this batch.
  bool should_yield() const { return should_yield_; }

  std::vector<bool> finished() const;  // units that are merged
  bool complete() const;
  int64_t done() const;  // correlations
  // Of these, merged ones by this rank.
  int64_t merged_by(int rank) const;
  double best_z() const;  // of the others, as they told
  std::vector<PeerInfo> peers() const;
  Watchdog& watchdog() { return watchdog_; }

  // The others end with this, too.
  void abandon(const Error& error);

  void put(const std::string& name, const std::vector<char>& value) override;
  std::vector<char> get(const std::string& name) override;

 private:
  using Clock = std::chrono::steady_clock;
  // For those who have to end to do so by themselves.
  static constexpr std::chrono::milliseconds kGrace{5000};
  static constexpr std::chrono::milliseconds kLookAround{100};

  struct Peer {
    PeerInfo info;
    std::optional<std::string> identity;  // of its device
    std::unique_ptr<comm::Connection> connection;
    std::unique_ptr<comm::SendQueue> queue;  // so that no send waits under the mutex
    std::thread receiver;
    bool live = false;
    Ready ready{.batch = 0, .device = "", .signature = ""};  // batch 0: it is not ready yet
  };

  std::thread start_thread(std::function<void()> work);
  Error threading_failure(const std::exception& why) const;
  void accept_peers();
  void receive_from(Peer& peer);
  void handle(Peer& peer, const RankMessage& message);
  void send_heartbeats();
  void dispatch(const std::vector<Assignment>& assignments);
  // To all that live, but one.
  void send_to_all(const RankMessage& message, const Peer* but = nullptr);
  void mark_lost(Peer& peer, ExitCode code, const std::string& why);
  void fail(ExitCode code, const std::string& what);
  // A newer round has begun, or the end: what a group does is of no use any more.
  bool superseded();
  void throw_failure();
  std::string name_of(const Peer& peer) const;
  std::string missing_ranks() const;
  // Nobody is missing, and all have told which device they have.
  bool all_here() const;
  void refuse_shared_device(const std::string& own_identity);
  // Gives a rank that is ready its first work.
  void let_begin(const Peer& peer);
  double now() const;
  void say(const std::string& sentence) const;

  RankGroupOptions options_;
  Watchdog watchdog_;
  LocalStore local_store_;
  std::unique_ptr<GroupCommunicator> group_communicator_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Peer> peers_;  // by rank; 0 is not used
  std::optional<Coordinator> coordinator_;
  std::string signature_;
  std::deque<Order> orders_;
  std::atomic<bool> should_yield_ = false;
  std::optional<Error> failure_;  // the first
  Clock::time_point failed_at_;
  bool failure_taken_ = false;
  std::optional<comm::Timeout> group_lost_;  // for another round, or the end
  std::string group_lost_why_;
  double best_z_ = 0;
  bool stop_requested_ = false;  // by another rank
  bool ended_ = false;           // the search, as it should
  bool ending_ = false;          // this object

  Clock::time_point begun_ = Clock::now();
  std::unique_ptr<comm::Acceptor> acceptor_;
  std::thread acceptor_thread_, heartbeat_thread_;
};

}  // namespace engine
