#include "engine/crew.h"

#include <algorithm>

namespace engine {

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
