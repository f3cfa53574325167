#include "scheduler/files/owner_threads.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace scheduler {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct OwnerThreads::State {
  explicit State(OwnerThreadLimits wanted) : limits(wanted) {}

  struct Owner {
    bool busy = false;
    bool given_up = false;  // of work that has not ended
    bool turned_away = false;
    bool in_time = false;  // its last work was
    bool late = false;     // it was not
    Clock::duration waited{};
    Clock::time_point sign{};
    std::string path{};  // where its work is
  };

  bool has_room(const Owner& owner) const {
    return busy < limits.threads - (owner.in_time ? 0 : limits.kept);
  }
  void note_sign(int64_t owner, const std::string& path) {
    const std::scoped_lock lock(mutex);
    owners[owner].sign = Clock::now();
    owners[owner].path = path;
    changed.notify_all();
  }
  void note_end(int64_t id) {
    const std::scoped_lock lock(mutex);
    Owner& owner = owners[id];
    owner.late = Clock::now() - owner.sign > limits.timeout;
    owner.in_time = !owner.late;
    owner.busy = false;
    owner.given_up = false;
    --busy;
    changed.notify_all();
  }
  std::string text_of(const Owner& owner) const {
    if (!owner.busy) {
      return "the file systems of " + std::to_string(busy) +
             " users do not answer, and this one's files are tried when one of them does";
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - owner.sign).count();
    return "the file system of '" + owner.path + "' has not answered for " +
           std::to_string(seconds) + " s";
  }

  const OwnerThreadLimits limits;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, Owner> owners;
  int busy = 0;
};

OwnerThreads::OwnerThreads(OwnerThreadLimits limits) : state_(std::make_shared<State>(limits)) {}

void OwnerThreads::begin_round() {
  const std::scoped_lock lock(state_->mutex);
  for (auto& [id, owner] : state_->owners) owner.waited = {};
}

bool OwnerThreads::is_busy(int64_t id) const {
  const std::scoped_lock lock(state_->mutex);
  const auto owner = state_->owners.find(id);
  return owner != state_->owners.end() && owner->second.busy;
}

bool OwnerThreads::may_begin(int64_t id) {
  const std::scoped_lock lock(state_->mutex);
  State::Owner& owner = state_->owners[id];
  if (owner.busy) return false;
  owner.turned_away = !state_->has_room(owner);
  return !owner.turned_away;
}

void OwnerThreads::begin(int64_t id, const std::string& path, Work work) {
  {
    const std::scoped_lock lock(state_->mutex);
    State::Owner& owner = state_->owners[id];
    owner.busy = true;
    owner.sign = Clock::now();
    owner.path = path;
    ++state_->busy;
  }
  try {
    std::thread([state = state_, id, work = std::move(work)] {
      work([&](const std::string& at) { state->note_sign(id, at); });
      state->note_end(id);
    }).detach();
  } catch (const std::system_error&) {  // there is no thread
    state_->note_end(id);
    throw;
  }
}

bool OwnerThreads::ends(int64_t id, std::chrono::milliseconds longest) {
  std::unique_lock lock(state_->mutex);
  State::Owner& owner = state_->owners[id];
  const auto began = Clock::now();
  const auto timeout = owner.late ? Clock::duration{} : state_->limits.timeout - owner.waited;
  const auto until = [&] { return std::min(owner.sign + timeout, began + longest); };
  while (owner.busy && Clock::now() < until()) state_->changed.wait_until(lock, until());
  owner.waited += Clock::now() - began;
  owner.given_up = owner.busy && Clock::now() >= owner.sign + timeout;
  return !owner.busy;
}

bool OwnerThreads::finishes(int64_t id, std::chrono::milliseconds longest) const {
  std::unique_lock lock(state_->mutex);
  const State::Owner& owner = state_->owners[id];
  const auto latest = Clock::now() + longest;
  const auto until = [&] { return std::min(owner.sign + state_->limits.timeout, latest); };
  while (owner.busy && Clock::now() < until()) state_->changed.wait_until(lock, until());
  return !owner.busy;
}

std::map<int64_t, std::string> OwnerThreads::hanging() const {
  const std::scoped_lock lock(state_->mutex);
  std::map<int64_t, std::string> hanging;
  for (const auto& [id, owner] : state_->owners) {
    const bool turned_away = owner.turned_away && !state_->has_room(owner);
    const bool silent = owner.busy && Clock::now() - owner.sign > state_->limits.timeout;
    if (owner.given_up || silent || turned_away) hanging.emplace(id, state_->text_of(owner));
  }
  return hanging;
}

}  // namespace scheduler
