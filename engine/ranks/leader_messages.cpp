// What rank 0 hears of the others, and what it does when one is lost.
#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "engine/ranks/leader.h"

namespace engine {

using std::chrono::milliseconds;

void Foreman::listen_to(Peer& peer) {
  std::string why;
  ExitCode code = ExitCode::kDeviceFault;
  try {
    while (auto message = hear_within(*peer.link, options_.timeout)) {
      hear(peer, decode(*message));
    }
    why = "it has been silent for " + seconds_text(options_.timeout);
  } catch (const comm::LinkLost& e) {
    why = e.what();
  } catch (const StrangeMessage& e) {
    why = e.what();
  }
  const std::lock_guard lock(mutex_);
  lose(peer, code, why);
}

void Foreman::hear(Peer& peer, const RankMessage& message) {
  const std::lock_guard lock(mutex_);
  const int rank = peer.colleague.rank;
  if (const auto* here = std::get_if<Here>(&message)) {
    peer.identity = here->identity;
    changed_.notify_all();
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    peer.ready = *ready;
    peer.ready.batch = std::max(1, ready->batch);
    peer.colleague.device = ready->device;
    if (coordinator_) let_begin(peer);
  } else if (const auto* ask = std::get_if<Ask>(&message)) {
    best_z_ = std::max(best_z_, ask->best_z);
    if (coordinator_) carry_out(coordinator_->asked(rank, ask->done, now()));
  } else if (std::holds_alternative<StopWish>(message)) {
    stop_wished_ = true;
    if (coordinator_) carry_out(coordinator_->want_merge(true));
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    lose(peer, static_cast<ExitCode>(failed->code), failed->what);
  } else if (const auto* notice = std::get_if<Notice>(&message)) {
    board_.put(notice->name, notice->value);
    for (Peer& other : peers_) {
      if (other.live && &other != &peer) send(other, *notice);
    }
  }
}

void Foreman::beat() {
  const milliseconds pause = std::min(options_.timeout / 4, kLookAround * 10);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_for(lock, pause, [&] { return ending_; });
    for (Peer& peer : peers_) {
      if (peer.live) send(peer, Beat{});
    }
    const std::string hang = pulse_.tick(pause);
    if (!hang.empty()) fail(ExitCode::kDeviceFault, "rank 0 was lost: " + hang);
    // A checkpoint that is being written is worth waiting for.
    if (failure_ && !failure_taken_ && Clock::now() - failed_at_ > kGrace &&
        (!hang.empty() || !pulse_.is_busy_with(Doing::kFiles))) {
      // The thread that should take it does not come back from its device or from the network.
      say(failure_->what());
      std::_Exit(static_cast<int>(failure_->code()));
    }
  }
}

void Foreman::put(const std::string& name, const std::vector<char>& value) {
  board_.put(name, value);
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) {
    if (peer.live) send(peer, Notice{name, value});
  }
}

std::vector<char> Foreman::get(const std::string& name) {
  return board_.get(name, comm::Patience(options_.timeout, [this] { return superseded(); }));
}

// ------------------------------------------------------------------------------------- Failure ---

// A rank's own fault that any rank would meet ends the search whatever was asked for.
void Foreman::lose(Peer& peer, ExitCode code, const std::string& why) {
  if (!peer.live) return;
  peer.live = false;
  changed_.notify_all();
  if (ended_ || ending_ || failure_ || (coordinator_ && coordinator_->over())) return;
  const bool of_the_rank = code == ExitCode::kDeviceFault || code == ExitCode::kDeviceMemory;
  if (!options_.go_on_without || !of_the_rank || !coordinator_) {
    fail(code, name_of(peer) + " was lost: " + why);
    return;
  }
  peer.link->shut();
  say(name_of(peer) + " was lost: " + why + "; the others go on without it");
  carry_out(coordinator_->lost(peer.colleague.rank));
}

void Foreman::fail(ExitCode code, const std::string& what) {
  if (failure_) return;
  failure_.emplace(code, what);
  failed_at_ = Clock::now();
  board_.close();
  for (Peer& peer : peers_) {
    if (peer.live) send(peer, Failed{static_cast<int>(code), what});
  }
  changed_.notify_all();
}

bool Foreman::superseded() {
  const std::lock_guard lock(mutex_);
  return failure_ || has_merge(mine_);
}

void Foreman::throw_failure() {
  if (!failure_) return;
  failure_taken_ = true;
  throw *failure_;
}

void Foreman::abandon(const Error& error) {
  const std::lock_guard lock(mutex_);
  failure_taken_ = true;
  if (!ended_) fail(error.code(), error.what());
}

}  // namespace engine
