#include "scheduler/http/closer.h"

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace scheduler::api {
namespace {

constexpr std::chrono::seconds kTimeOfAClose{1};

}  // namespace

struct Closer::State {
  struct User {
    std::deque<std::vector<Descriptor>> waiting{};
    Time began{};  // the close that its thread is at
  };

  // Until nothing of this user's is left.
  void run(uid_t uid) {
    std::unique_lock lock(mutex);
    for (User& user = users.at(uid); !user.waiting.empty();) {
      user.began = std::chrono::steady_clock::now();
      std::vector<Descriptor> descriptors = std::move(user.waiting.front());
      lock.unlock();
      descriptors.clear();
      lock.lock();
      user.waiting.pop_front();
    }
    users.erase(uid);
  }

  std::mutex mutex;
  std::map<uid_t, User> users;  // those with a thread
};

Closer::Closer() : state_(std::make_shared<State>()) {}

void Closer::close(uid_t uid, std::vector<Descriptor> descriptors) {
  if (descriptors.empty()) return;
  const std::scoped_lock lock(state_->mutex);
  const auto [user, is_new] = state_->users.try_emplace(uid);
  user->second.waiting.push_back(std::move(descriptors));
  if (is_new) {
    user->second.began = std::chrono::steady_clock::now();
    std::thread([state = state_, uid] { state->run(uid); }).detach();
  }
}

int Closer::stuck(uid_t uid, Time now) const {
  const std::scoped_lock lock(state_->mutex);
  const auto user = state_->users.find(uid);
  if (user == state_->users.end() || now - user->second.began < kTimeOfAClose) return 0;
  return static_cast<int>(user->second.waiting.size());
}

}  // namespace scheduler::api
