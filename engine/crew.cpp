#include "engine/crew.h"

#include <algorithm>

namespace engine {

void Pulse::begin() {
  const std::lock_guard lock(mutex_);
  busy_ = true;
  begun_ = Clock::now();
}

void Pulse::end() {
  const std::lock_guard lock(mutex_);
  busy_ = false;
  longest_ = std::max(longest_, Clock::now() - begun_);
}

bool Pulse::beats() const {
  constexpr int kManyTimes = 10;
  const std::lock_guard lock(mutex_);
  // Nothing is known yet of how long a first batch takes: device libraries are loaded in it.
  const Clock::duration patience = longest_.count() == 0
                                       ? Clock::duration(timeout_) * kManyTimes
                                       : std::max<Clock::duration>(timeout_, longest_ * kManyTimes);
  return !busy_ || Clock::now() - begun_ < patience;
}

void NoticeBoard::put(const std::string& name, std::vector<char> value) {
  {
    const std::lock_guard lock(mutex_);
    values_[name] = std::move(value);
  }
  changed_.notify_all();
}

std::vector<char> NoticeBoard::get(const std::string& name, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto there = [&] { return closed_ || values_.count(name) > 0; };
  if (!changed_.wait_for(lock, timeout, there)) {
    throw CommunicatorLost("no rank said '" + name + "' in " +
                           std::to_string(timeout.count() / 1000) + " s");
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
                               .address = place_.address,
                               .timeout = place_.timeout};
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
