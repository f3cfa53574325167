#include "engine/ranks/rank_group.h"

#include <algorithm>

namespace engine {

std::string seconds_text(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

std::optional<comm::Message> receive_within(comm::Connection& connection,
                                            std::chrono::milliseconds timeout) {
  comm::Timeout left(timeout);
  std::optional<comm::Message> message;
  while (!message && !left.expired()) message = connection.receive(left.next_check());
  return message;
}

bool has_merge(const std::deque<Order>& orders) {
  return std::any_of(orders.begin(), orders.end(),
                     [](const Order& order) { return order.kind == OrderKind::kMerge; });
}

void LocalStore::put(const std::string& name, std::vector<char> value) {
  {
    const std::lock_guard lock(mutex_);
    values_[name] = std::move(value);
  }
  changed_.notify_all();
}

std::vector<char> LocalStore::get(const std::string& name, comm::Timeout timeout) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return closed_ || values_.count(name) > 0; };
  while (!changed_.wait_until(lock, timeout.next_check(), there)) {
    // Whoever knows whether it is of use may be about to put something here.
    lock.unlock();
    if (timeout.expired()) {
      throw CommunicatorLost("no rank said '" + name + "' in " +
                             std::to_string(timeout.length().count()) +
                             " ms, or it is of no use any more");
    }
    lock.lock();
  }
  if (closed_) throw CommunicatorLost("the ranks are ending");
  return values_[name];
}

void LocalStore::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

Communicator& GroupCommunicator::of(const std::vector<int>& participants, const std::string& name) {
  if (communicator_ && participants == participants_) return *communicator_;
  communicator_.reset();
  participants_ = participants;
  const auto mine = std::find(participants.begin(), participants.end(), place_.rank);
  const comm::GroupConfig place{.rank = static_cast<int>(mine - participants.begin()),
                                .size = static_cast<int>(participants.size()),
                                .name = name,
                                .addresses = place_.addresses,
                                .timeout = place_.timeout,
                                .is_cancelled = place_.is_cancelled};
  if (participants.size() == 1) {
    communicator_ = comm::alone();
  } else if (place_.kind == "nccl") {
    communicator_ = comm::make_nccl(place, store_, place_.device);
  } else {
    communicator_ = comm::make_gloo(place, store_);
  }
  return *communicator_;
}

}  // namespace engine
