#include "engine/crew.h"

#include <algorithm>

namespace engine {

void Pulse::begin() {
  const std::lock_guard lock(mutex_);
  busy_ = true;
  begun_ = Clock::now();
  ticked_ = {};
}

void Pulse::end() {
  using std::chrono::milliseconds;
  const std::lock_guard lock(mutex_);
  busy_ = false;
  // A batch within which the process was suspended did not take that long.
  const auto time = std::chrono::ceil<milliseconds>(Clock::now() - begun_);
  longest_ = std::max(longest_, std::min(time, ticked_ + timeout_));
}

bool Pulse::tick(std::chrono::milliseconds time) {
  constexpr int kManyTimes = 10;
  const std::lock_guard lock(mutex_);
  ticked_ += time;
  // Nothing is known yet of how long a first batch takes: device libraries are loaded in it.
  const auto patience =
      longest_.count() == 0 ? timeout_ * kManyTimes : std::max(timeout_, longest_ * kManyTimes);
  return !busy_ || ticked_ < patience;
}

std::optional<comm::Message> hear_within(comm::Link& link, std::chrono::milliseconds timeout) {
  const auto slice = std::min(timeout, std::chrono::milliseconds(250));
  for (std::chrono::milliseconds silent{0}; silent < timeout; silent += slice) {
    if (auto message = link.receive(std::chrono::steady_clock::now() + slice)) return message;
  }
  return std::nullopt;
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
