// Rank 0's side of a search by several ranks: it waits for the other ranks, hands out the work,
// notices lost ranks, and keeps the first failure. A search by one process also has a leader, which
// then has no threads and no sockets.
//
// The computing thread calls the public functions. The object's own threads accept ranks, receive
// from each, send to each from its own queue (send_queue.h), and send heartbeats. Nothing waits for
// a peer while it holds the mutex. A peer that is silent, or takes nothing, for the timeout
// (--rank-timeout) is lost; then the search ends or continues without it (--on-rank-loss).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/acceptor.h"
#include "engine/comm/send_queue.h"
#include "engine/ranks/messages.h"
#include "engine/ranks/rank_group.h"
#include "engine/ranks/shared_devices.h"

namespace engine {

// What rank 0 knows about another rank.
struct PeerInfo {
  int rank = 0;
  std::string host;
  std::string device;  // a description; empty: not known yet
};

class Leader : public RankSession {
 public:
  // Starts to accept ranks.
  explicit Leader(RankGroupOptions options);
  // Ends the ranks that are still connected.
  ~Leader() override;

  int size() const { return options_.place.size; }
  bool can_lose_ranks() const { return size() > 1 && options_.continue_on_rank_loss; }

  // Waits until every rank has arrived, and lets all of them make a communicator of this kind.
  // `device` is used for nccl; `identity` is RankDevice::identity. Throws Error(kDeviceFault)
  // naming ranks that did not arrive in time, Error(kUsage) naming ranks that share a device, and
  // Error(kStopped) where `stop` is set.
  Communicator& assemble(const std::string& kind, int device, const std::string& identity,
                         const std::atomic<bool>& stop);

  // Starts to hand out work; for the parameters see Coordinator. `signature` is rank 0's
  // numerics_signature(); a rank with another one ends the search with a usage error that names it.
  void begin(std::vector<int32_t> costs, std::vector<bool> finished, int batch,
             const std::string& signature);
  void ask(uint32_t done);
  void request_merge(bool stop);
  // Reports that rank 0 has the sums of this round. Returns false when a rank was lost meanwhile:
  // the sums are then incomplete and must be discarded.
  bool merged(int round);
  // True when the search is done or stopped and everything is merged. The ranks end only by the
  // order of end().
  bool over() const { return locked_coordinator()->over(); }
  void end();

  // True for each unit that is merged.
  std::vector<bool> finished() const { return locked_coordinator()->finished(); }
  bool complete() const { return locked_coordinator()->complete(); }
  int64_t done() const { return locked_coordinator()->done(); }  // correlations
  // Merged correlations that this rank computed.
  int64_t merged_by(int rank) const { return locked_coordinator()->merged_by(rank); }
  double best_z() const;  // the largest that the other ranks have reported
  std::vector<PeerInfo> peers() const;

  // Ends the other ranks with this error.
  void abandon(const Error& error);

  void put(const std::string& name, const std::vector<char>& value) override;

 private:
  static constexpr std::chrono::milliseconds kPollInterval{100};

  struct Peer {
    PeerInfo info;
    std::optional<std::string> identity;  // of its device; nullopt: not named yet
    std::unique_ptr<comm::Connection> connection;
    std::unique_ptr<comm::SendQueue> queue;
    std::thread receiver;
    bool live = false;
    Ready ready{.batch = 0, .device = "", .signature = ""};  // batch 0: it is not ready yet
  };

  // Holds the mutex while the coordinator is used, until the end of the expression.
  struct LockedCoordinator {
    std::unique_lock<std::mutex> lock;
    const Coordinator& value;
    const Coordinator* operator->() const { return &value; }
  };
  LockedCoordinator locked_coordinator() const { return {std::unique_lock(mutex_), *coordinator_}; }

  std::thread start_thread(std::function<void()> work);
  Error threading_failure(const std::exception& why) const;
  void accept_peers();
  void receive_from(Peer& peer);
  void handle(Peer& peer, const RankMessage& message);
  void heartbeat(const std::string& hang) override;

  // With the mutex held:
  void dispatch(const std::vector<Assignment>& assignments);
  // Sends to all peers that are not lost, except `but`.
  void send_to_all(const RankMessage& message, const Peer* but = nullptr);
  void mark_lost(Peer& peer, ExitCode code, const std::string& why);
  void fail(ExitCode code, const std::string& what);
  std::string name_of(const Peer& peer) const;
  std::string missing_ranks() const;
  // True when every rank has arrived and named its device.
  bool all_here() const;
  void refuse_shared_device(const std::vector<RankDevice>& ranks);
  std::vector<RankDevice> devices(const std::string& own_identity) const;
  // Gives a rank that is ready its first work.
  void let_begin(const Peer& peer);
  double now() const;
  void report(const std::string& sentence) const;

  // Guarded by the mutex:
  std::vector<Peer> peers_;  // by rank; 0 is not used
  std::optional<Coordinator> coordinator_;
  std::string signature_;
  double best_z_ = 0;
  bool stop_requested_ = false;  // by another rank
  bool ended_ = false;           // the search has ended without a failure

  Clock::time_point begun_ = Clock::now();
  std::unique_ptr<comm::Acceptor> acceptor_;
  std::thread acceptor_thread_, heartbeat_thread_;
};

}  // namespace engine
