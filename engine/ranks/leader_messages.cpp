// Implements a part of engine/ranks/leader.h: messages from the other ranks, heartbeats and
// failures.
#include <algorithm>
#include <utility>
#include <variant>

#include "engine/ranks/leader.h"

namespace engine {

void Leader::receive_from(Peer& peer) {
  std::string why;
  ExitCode code = ExitCode::kDeviceFault;
  try {
    while (auto message = receive_within(*peer.connection, options_.timeout)) {
      handle(peer, decode(*message));
    }
    why = "it has been silent for " + seconds_text(options_.timeout);
  } catch (const comm::ConnectionLost& e) {
    why = e.what();
  } catch (const MalformedMessage& e) {
    why = e.what();
  }
  const std::lock_guard lock(mutex_);
  mark_lost(peer, code, why);
}

void Leader::handle(Peer& peer, const RankMessage& message) {
  const std::lock_guard lock(mutex_);
  const int rank = peer.info.rank;
  if (const auto* claim = std::get_if<DeviceClaim>(&message)) {
    peer.identity = claim->identity;
    changed_.notify_all();
  } else if (const auto* ready = std::get_if<Ready>(&message)) {
    peer.ready = *ready;
    peer.ready.batch = std::max(1, ready->batch);
    peer.info.device = ready->device;
    if (coordinator_) let_begin(peer);
  } else if (const auto* ask = std::get_if<WorkRequest>(&message)) {
    best_z_ = std::max(best_z_, ask->best_z);
    if (coordinator_) dispatch(coordinator_->on_request(rank, ask->done, now()));
  } else if (std::holds_alternative<StopRequest>(message)) {
    stop_requested_ = true;
    if (coordinator_) dispatch(coordinator_->request_merge(true));
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    mark_lost(peer, static_cast<ExitCode>(failed->code), failed->what);
  } else if (const auto* entry = std::get_if<StoreEntry>(&message)) {
    keep(entry->name, entry->value);
    send_to_all(*entry, &peer);
  }
}

void Leader::heartbeat(const std::string& hang) {
  const comm::Message message = encode(Heartbeat{});
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) {
    if (peer.live) peer.queue->push_if_idle(message);
  }
  if (!hang.empty()) fail(ExitCode::kDeviceFault, "rank 0 was lost: " + hang);
}

void Leader::put(const std::string& name, const std::vector<char>& value) {
  const std::lock_guard lock(mutex_);
  keep(name, value);
  send_to_all(StoreEntry{name, value});
}

// ------------------------------------------------------------------------------------- Failure ---

// A failure that any rank would have ends the search, also where lost ranks are accepted.
void Leader::mark_lost(Peer& peer, ExitCode code, const std::string& why) {
  if (!peer.live) return;
  peer.live = false;
  changed_.notify_all();
  if (ended_ || ending_ || failure_ || (coordinator_ && coordinator_->over())) return;
  const bool of_the_rank = code == ExitCode::kDeviceFault || code == ExitCode::kDeviceMemory;
  if (!options_.continue_on_rank_loss || !of_the_rank || !coordinator_) {
    fail(code, name_of(peer) + " was lost: " + why);
    return;
  }
  peer.connection->shut_down();
  report(name_of(peer) + " was lost: " + why + "; the others go on without it");
  dispatch(coordinator_->on_lost(peer.info.rank));
}

void Leader::fail(ExitCode code, const std::string& what) {
  if (set_failure(Error(code, what))) send_to_all(Failed{static_cast<int>(code), what});
}

void Leader::abandon(const Error& error) {
  const std::lock_guard lock(mutex_);
  failure_taken_ = true;
  if (!ended_) fail(error.code(), error.what());
}

}  // namespace engine
