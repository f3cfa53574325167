#include "engine/ranks/leader.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/comm/sockets.h"
#include "engine/ranks/group_log.h"

namespace engine {

Leader::Leader(RankGroupOptions options)
    : RankSession(std::move(options)), peers_(static_cast<size_t>(options_.place.size)) {
  if (size() == 1) return;
  acceptor_ =
      std::make_unique<comm::Acceptor>(options_.place.rendezvous, options_.place.nonce, size());
  try {
    heartbeat_thread_ = start_thread([this] { run_heartbeats(); });
    acceptor_thread_ = start_thread([this] { accept_peers(); });
  } catch (const std::system_error& e) {
    {
      const std::lock_guard lock(mutex_);
      end_session();
    }
    if (heartbeat_thread_.joinable()) heartbeat_thread_.join();
    throw threading_failure(e);
  }
}

Leader::~Leader() {
  abandon(Error(ExitCode::kDeviceFault, "rank 0 has ended"));
  {
    std::unique_lock lock(mutex_);
    // They close their side when they have the last message; a rank that has not arrived yet gets
    // it when it is accepted.
    changed_.wait_for(lock, kGrace, [&] {
      return missing_ranks().empty() &&
             std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.live; });
    });
    end_session();
    for (const Peer& peer : peers_) {
      if (peer.connection) peer.connection->shut_down();
    }
  }
  if (acceptor_thread_.joinable()) acceptor_thread_.join();
  if (heartbeat_thread_.joinable()) heartbeat_thread_.join();
  for (Peer& peer : peers_) {
    if (peer.receiver.joinable()) peer.receiver.join();
  }
}

Error Leader::threading_failure(const std::exception& why) const {
  const bool of_system = dynamic_cast<const std::system_error*>(&why) != nullptr;
  return Error(
      ExitCode::kDeviceFault,
      "rank 0 cannot continue with " + std::to_string(size()) + " ranks: " + why.what() +
          (of_system ? "; allow it more threads and open files ('ulimit -u', 'ulimit -n')" : ""));
}

// What goes wrong in the thread ends the search.
std::thread Leader::start_thread(std::function<void()> work) {
  return std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      fail(ExitCode::kDeviceFault, threading_failure(e).what());
    }
  });
}

void Leader::report(const std::string& sentence) const {
  if (options_.message) options_.message(sentence);
}

double Leader::now() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

std::string Leader::name_of(const Peer& peer) const {
  return "rank " + std::to_string(peer.info.rank) + " on " + peer.info.host;
}

// ------------------------------------------------------------------------------------- Arrival ---

void Leader::accept_peers() {
  for (int arrived = 1; arrived < size();) {
    auto someone = acceptor_->accept(Clock::now() + kPollInterval);
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    if (!someone) continue;
    Peer& peer = peers_[static_cast<size_t>(someone->rank)];
    peer.info = {.rank = someone->rank, .host = std::move(someone->host), .device = ""};
    peer.connection = std::move(someone->connection);
    peer.queue = std::make_unique<comm::SendQueue>(*peer.connection, options_.timeout);
    peer.receiver = start_thread([this, &peer] { receive_from(peer); });
    peer.live = true;
    ++arrived;
    if (failure_)
      peer.queue->push(encode(Failed{static_cast<int>(failure_->code()), failure_->what()}));
    changed_.notify_all();
  }
}

std::string Leader::missing_ranks() const {
  std::string missing;
  for (size_t rank = 1; rank < peers_.size(); ++rank) {
    if (!peers_[rank].connection) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  return missing;
}

bool Leader::all_here() const {
  return std::all_of(peers_.begin() + 1, peers_.end(),
                     [](const Peer& peer) { return peer.identity.has_value(); });
}

std::vector<RankDevice> Leader::devices(const std::string& own_identity) const {
  std::vector<RankDevice> devices{
      {.rank = 0, .host = comm::own_host_name(), .identity = own_identity}};
  for (size_t rank = 1; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    devices.push_back(
        {.rank = peer.info.rank, .host = peer.info.host, .identity = peer.identity.value_or("")});
  }
  return devices;
}

void Leader::refuse_shared_device(const std::vector<RankDevice>& ranks) {
  const std::string shared = shared_device(ranks);
  if (!shared.empty()) fail(ExitCode::kUsage, shared);
}

Communicator& Leader::assemble(const std::string& kind, int device, const std::string& identity,
                               const std::atomic<bool>& stop) {
  std::vector<std::string> addresses;
  std::vector<RankDevice> ranks;
  {
    std::unique_lock lock(mutex_);
    comm::Timeout timeout(options_.timeout);
    while (!all_here()) {
      throw_failure();
      if (stop) throw Error(ExitCode::kStopped, "stopped on request before all ranks had arrived");
      // A rank that is here and silent is lost by itself.
      if (!missing_ranks().empty() && timeout.expired()) {
        fail(ExitCode::kDeviceFault,
             "rank " + missing_ranks() + " of " + std::to_string(size()) + " did not arrive in " +
                 seconds_text(timeout.length()) +
                 ": see what its process says, and whether it can reach this host; where starting "
                 "takes longer give more time with --rank-timeout");
      }
      changed_.wait_for(lock, kPollInterval);
    }
    ranks = devices(identity);
    refuse_shared_device(ranks);
    throw_failure();
    send_to_all(Start{kind});
    for (const Peer& peer : peers_) {
      if (peer.connection) addresses.push_back(peer.connection->local_address());
    }
  }
  if (options_.log) options_.log(start_line(ranks));
  return first_communicator(kind, device, std::move(addresses));
}

// ---------------------------------------------------------------------------------------- Work ---

void Leader::begin(std::vector<int32_t> costs, std::vector<bool> finished, int batch,
                   const std::string& signature) {
  const std::lock_guard lock(mutex_);
  signature_ = signature;
  coordinator_.emplace(Division{.ranks = size(), .chunk = options_.chunk}, std::move(costs),
                       std::move(finished));
  coordinator_->set_batch(0, batch);
  if (stop_requested_) dispatch(coordinator_->request_merge(true));
  // Some may be ready already.
  for (Peer& peer : peers_) {
    if (peer.ready.batch > 0) let_begin(peer);
  }
}

void Leader::let_begin(const Peer& peer) {
  if (peer.ready.signature != signature_) {
    fail(ExitCode::kUsage,
         name_of(peer) + " computes with " + peer.ready.signature + ", and rank 0 with " +
             signature_ + ": all ranks of a search must compute in the same way. Name " +
             "it with --backend, --fft and --precision, and start the same program "
             "everywhere");
    return;
  }
  coordinator_->set_batch(peer.info.rank, peer.ready.batch);
  dispatch(coordinator_->on_request(peer.info.rank, 0, now()));
}

void Leader::ask(uint32_t done) {
  const std::lock_guard lock(mutex_);
  dispatch(coordinator_->on_request(0, done, now()));
}

void Leader::request_merge(bool stop) {
  const std::lock_guard lock(mutex_);
  dispatch(coordinator_->request_merge(stop));
}

bool Leader::merged(int round) {
  const std::lock_guard lock(mutex_);
  const auto assignments = coordinator_->on_merged(round);
  if (assignments) dispatch(*assignments);
  return assignments.has_value();
}

void Leader::end() {
  const std::lock_guard lock(mutex_);
  dispatch(coordinator_->end());
}

double Leader::best_z() const {
  const std::lock_guard lock(mutex_);
  return best_z_;
}

std::vector<PeerInfo> Leader::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<PeerInfo> all;
  for (size_t rank = 1; rank < peers_.size(); ++rank) all.push_back(peers_[rank].info);
  return all;
}

void Leader::dispatch(const std::vector<Assignment>& assignments) {
  for (const Assignment& one : assignments) {
    ended_ = ended_ || one.order.kind == OrderKind::kEnd;
    if (one.rank == 0) {
      take(one.order);
      continue;
    }
    Peer& peer = peers_[static_cast<size_t>(one.rank)];
    if (peer.live) peer.queue->push(encode(one.order));
  }
}

void Leader::send_to_all(const RankMessage& message, const Peer* but) {
  for (Peer& peer : peers_) {
    if (peer.live && &peer != but) peer.queue->push(encode(message));
  }
}

}  // namespace engine
