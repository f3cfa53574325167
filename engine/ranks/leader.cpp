#include "engine/ranks/leader.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include "engine/comm/sockets.h"
#include "engine/ranks/shared_devices.h"

namespace engine {

using std::chrono::milliseconds;

Foreman::Foreman(CrewOptions options)
    : options_(std::move(options)),
      pulse_(options_.timeout),
      peers_(static_cast<size_t>(options_.place.size)) {
  if (size() == 1) {
    groups_ = std::make_unique<Groups>(Groups::Place{}, *this);
    return;
  }
  door_ = std::make_unique<comm::Door>(options_.place.meeting, options_.place.nonce, size());
  try {
    beater_ = start_thread([this] { beat(); });
    welcomer_ = start_thread([this] { welcome(); });
  } catch (const std::system_error& e) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    if (beater_.joinable()) beater_.join();
    throw cannot_go_on(e);
  }
}

Foreman::~Foreman() {
  abandon(Error(ExitCode::kDeviceFault, "rank 0 has ended"));
  {
    std::unique_lock lock(mutex_);
    // They close their side when they have heard the last word; who has not arrived yet hears it
    // at the door.
    changed_.wait_for(lock, kGrace, [&] {
      return missing_ranks().empty() &&
             std::none_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.live; });
    });
    ending_ = true;
    changed_.notify_all();
    for (const Peer& peer : peers_) {
      if (peer.link) peer.link->shut();
    }
  }
  board_.close();
  if (welcomer_.joinable()) welcomer_.join();
  if (beater_.joinable()) beater_.join();
  for (Peer& peer : peers_) {
    if (peer.listener.joinable()) peer.listener.join();
  }
}

Error Foreman::cannot_go_on(const std::exception& why) const {
  const bool of_system = dynamic_cast<const std::system_error*>(&why) != nullptr;
  return Error(
      ExitCode::kDeviceFault,
      "rank 0 cannot go on with " + std::to_string(size()) + " ranks: " + why.what() +
          (of_system ? "; allow it more threads and open files ('ulimit -u', 'ulimit -n')" : ""));
}

// What goes wrong in it ends the search.
std::thread Foreman::start_thread(std::function<void()> work) {
  return std::thread([this, work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex_);
      fail(ExitCode::kDeviceFault, cannot_go_on(e).what());
    }
  });
}

void Foreman::say(const std::string& sentence) const {
  if (options_.message) options_.message(sentence);
}

double Foreman::now() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

std::string Foreman::name_of(const Peer& peer) const {
  return "rank " + std::to_string(peer.colleague.rank) + " on " + peer.colleague.host;
}

// ------------------------------------------------------------------------------------- Arrival ---

void Foreman::welcome() {
  for (int arrived = 1; arrived < size();) {
    auto someone = door_->accept(Clock::now() + kLookAround);
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    if (!someone) continue;
    Peer& peer = peers_[static_cast<size_t>(someone->rank)];
    peer.colleague = {.rank = someone->rank, .host = std::move(someone->host), .device = ""};
    peer.link = std::move(someone->link);
    peer.listener = start_thread([this, &peer] { listen_to(peer); });
    peer.live = true;
    ++arrived;
    if (failure_) send(peer, Failed{static_cast<int>(failure_->code()), failure_->what()});
    changed_.notify_all();
  }
}

std::string Foreman::missing_ranks() const {
  std::string missing;
  for (size_t rank = 1; rank < peers_.size(); ++rank) {
    if (!peers_[rank].link) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  return missing;
}

bool Foreman::all_here() const {
  return std::all_of(peers_.begin() + 1, peers_.end(),
                     [](const Peer& peer) { return peer.identity.has_value(); });
}

void Foreman::refuse_shared_device(const std::string& own_identity) {
  std::vector<RankDevice> devices{
      {.rank = 0, .host = comm::own_host_name(), .identity = own_identity}};
  for (size_t rank = 1; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    devices.push_back({.rank = peer.colleague.rank,
                       .host = peer.colleague.host,
                       .identity = peer.identity.value_or("")});
  }
  const std::string shared = shared_device(devices);
  if (!shared.empty()) fail(ExitCode::kUsage, shared);
}

Communicator& Foreman::gather(const std::string& kind, int device, const std::string& identity,
                              const std::atomic<bool>& stop) {
  std::vector<std::string> addresses;
  {
    std::unique_lock lock(mutex_);
    comm::Patience patience(options_.timeout);
    while (!all_here()) {
      throw_failure();
      if (stop) throw Error(ExitCode::kStopped, "stopped on request before all ranks had arrived");
      // Who is there and silent is lost by itself.
      if (!missing_ranks().empty() && patience.ended()) {
        fail(ExitCode::kDeviceFault,
             "rank " + missing_ranks() + " of " + std::to_string(size()) + " did not arrive in " +
                 seconds_text(patience.length()) +
                 ": see what its process says, and whether it can reach this host; where starting "
                 "takes longer give more time with --rank-timeout");
      }
      changed_.wait_for(lock, kLookAround);
    }
    refuse_shared_device(identity);
    throw_failure();
    for (Peer& peer : peers_) {
      if (peer.live) send(peer, Start{kind});
    }
    for (const Peer& peer : peers_) {
      if (peer.link) addresses.push_back(peer.link->local_address());
    }
  }
  groups_ = std::make_unique<Groups>(Groups::Place{.kind = kind,
                                                   .rank = 0,
                                                   .addresses = std::move(addresses),
                                                   .timeout = options_.timeout,
                                                   .of_no_use = [this] { return superseded(); },
                                                   .device = device},
                                     *this);
  std::vector<int> all(static_cast<size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  return groups_->of(all, "start");
}

// ---------------------------------------------------------------------------------------- Work ---

void Foreman::begin(std::vector<int32_t> costs, std::vector<bool> finished, int batch,
                    const std::string& way) {
  const std::lock_guard lock(mutex_);
  way_ = way;
  coordinator_.emplace(Division{.ranks = size(), .chunk = options_.chunk}, std::move(costs),
                       std::move(finished));
  coordinator_->set_batch(0, batch);
  if (stop_wished_) carry_out(coordinator_->want_merge(true));
  // Some may be ready already.
  for (Peer& peer : peers_) {
    if (peer.ready.batch > 0) let_begin(peer);
  }
}

void Foreman::let_begin(const Peer& peer) {
  if (peer.ready.way != way_) {
    fail(ExitCode::kUsage, name_of(peer) + " computes with " + peer.ready.way +
                               ", and rank 0 with " + way_ +
                               ": all ranks of a search must compute in the same way. Name " +
                               "it with --backend and --precision, and start the same program "
                               "everywhere");
    return;
  }
  coordinator_->set_batch(peer.colleague.rank, peer.ready.batch);
  carry_out(coordinator_->asked(peer.colleague.rank, 0, now()));
}

void Foreman::ask(uint32_t done) {
  const std::lock_guard lock(mutex_);
  carry_out(coordinator_->asked(0, done, now()));
}

void Foreman::want_merge(bool stop) {
  const std::lock_guard lock(mutex_);
  carry_out(coordinator_->want_merge(stop));
}

std::optional<Order> Foreman::next(milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return failure_ || !mine_.empty(); });
  throw_failure();
  if (mine_.empty()) {
    if (group_lost_ && group_lost_->ended()) {
      fail(ExitCode::kDeviceFault,
           "the connections between the ranks broke, although none of them "
           "was lost: " +
               group_lost_why_);
      throw_failure();
    }
    return std::nullopt;
  }
  Order order = std::move(mine_.front());
  mine_.pop_front();
  return order;
}

Communicator& Foreman::group(const Order& merge) {
  {
    const std::lock_guard lock(mutex_);
    group_lost_.reset();
  }
  return groups_->of(merge.members, "round " + std::to_string(merge.round));
}

void Foreman::group_is_lost(const std::string& why) {
  groups_->drop();
  const std::lock_guard lock(mutex_);
  group_lost_.emplace(2 * options_.timeout);
  group_lost_why_ = why;
}

bool Foreman::merged(int round) {
  const std::lock_guard lock(mutex_);
  const auto told = coordinator_->merged(round);
  if (told) carry_out(*told);
  return told.has_value();
}

bool Foreman::over() const {
  const std::lock_guard lock(mutex_);
  return coordinator_->over();
}

void Foreman::end() {
  const std::lock_guard lock(mutex_);
  carry_out(coordinator_->end());
}

std::vector<bool> Foreman::finished() const {
  const std::lock_guard lock(mutex_);
  return coordinator_->finished();
}

bool Foreman::complete() const {
  const std::lock_guard lock(mutex_);
  return coordinator_->complete();
}

int64_t Foreman::done() const {
  const std::lock_guard lock(mutex_);
  return coordinator_->done();
}

int64_t Foreman::merged_by(int rank) const {
  const std::lock_guard lock(mutex_);
  return coordinator_->merged_by(rank);
}

double Foreman::best_z() const {
  const std::lock_guard lock(mutex_);
  return best_z_;
}

std::vector<Colleague> Foreman::colleagues() const {
  const std::lock_guard lock(mutex_);
  std::vector<Colleague> all;
  for (size_t rank = 1; rank < peers_.size(); ++rank) all.push_back(peers_[rank].colleague);
  return all;
}

void Foreman::carry_out(const std::vector<Told>& told) {
  for (const Told& one : told) {
    ended_ = ended_ || one.order.kind == OrderKind::kEnd;
    if (one.rank == 0) {
      // A round follows where somebody is to hurry.
      if (one.order.kind == OrderKind::kHurry) hurried_ = true;
      if (one.order.kind == OrderKind::kMerge) hurried_ = false;
      mine_.push_back(one.order);
      changed_.notify_all();
      continue;
    }
    Peer& peer = peers_[static_cast<size_t>(one.rank)];
    if (peer.live) send(peer, one.order);
  }
}

void Foreman::send(Peer& peer, const RankMessage& message) {
  try {
    peer.link->send(encode(message), options_.timeout);
  } catch (const comm::LinkLost&) {
    // The listener finds the same, after the rank's last words.
  }
}

}  // namespace engine
