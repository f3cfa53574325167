#include "engine/ranks/rank_group.h"

#include <algorithm>

namespace engine {

std::string seconds_text(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

std::optional<comm::Message> hear_within(comm::Link& link, std::chrono::milliseconds timeout) {
  comm::Patience patience(timeout);
  std::optional<comm::Message> message;
  while (!message && !patience.ended()) message = link.receive(patience.next_look());
  return message;
}

bool has_merge(const std::deque<Order>& orders) {
  return std::any_of(orders.begin(), orders.end(),
                     [](const Order& order) { return order.kind == OrderKind::kMerge; });
}

void NoticeBoard::put(const std::string& name, std::vector<char> value) {
  {
    const std::lock_guard lock(mutex_);
    values_[name] = std::move(value);
  }
  changed_.notify_all();
}

std::vector<char> NoticeBoard::get(const std::string& name, comm::Patience patience) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return closed_ || values_.count(name) > 0; };
  while (!changed_.wait_until(lock, patience.next_look(), there)) {
    // Whoever knows whether it is of use may be about to put something here.
    lock.unlock();
    if (patience.ended()) {
      throw CommunicatorLost("no rank said '" + name + "' in " +
                             std::to_string(patience.length().count()) +
                             " ms, or it is of no use any more");
    }
    lock.lock();
  }
  if (closed_) throw CommunicatorLost("the ranks are ending");
  return values_[name];
}

void NoticeBoard::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

Communicator& Groups::of(const std::vector<int>& members, const std::string& name) {
  if (communicator_ && members == members_) return *communicator_;
  communicator_.reset();
  members_ = members;
  const auto mine = std::find(members.begin(), members.end(), place_.rank);
  const comm::GroupPlace place{.rank = static_cast<int>(mine - members.begin()),
                               .size = static_cast<int>(members.size()),
                               .name = name,
                               .addresses = place_.addresses,
                               .timeout = place_.timeout,
                               .of_no_use = place_.of_no_use};
  if (members.size() == 1) {
    communicator_ = comm::alone();
  } else if (place_.kind == "nccl") {
    communicator_ = comm::make_nccl(place, notices_, place_.device);
  } else {
    communicator_ = comm::make_gloo(place, notices_);
  }
  return *communicator_;
}

}  // namespace engine
