#include "engine/cpu/thread_team.h"

#include <hwy/cache_control.h>

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "engine/error.h"

namespace engine::cpu {

ThreadTeam::ThreadTeam(int threads, std::vector<Processors> nodes)
    : nodes_(std::move(nodes)),
      nodes_of_threads_(nodes_of_threads(nodes_, threads)),
      yields_(threads > available_cores()),
      parts_(nodes_of_threads_.empty() ? 1 : nodes_.size()) {
  for (int i = 0; i < threads; ++i) ++parts_[node_of(i)].threads;
  try {
    for (int i = 1; i < threads; ++i) {
      workers_.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error& error) {
    stop();
    throw Error(ExitCode::kDeviceMemory, "this machine gives no more than " +
                                             std::to_string(size()) + " of " +
                                             std::to_string(threads) + " threads (" + error.what() +
                                             "); ask for fewer --threads");
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

size_t ThreadTeam::node_of(int thread) const {
  return nodes_of_threads_.empty() ? 0 : nodes_of_threads_[static_cast<size_t>(thread)];
}

Processors ThreadTeam::processors_of(int thread) const {
  return nodes_of_threads_.empty() ? Processors() : nodes_[node_of(thread)];
}

void ThreadTeam::run_loop(size_t count, const Loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    loop_ = &loop;
    divide(count);
    failure_ = nullptr;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  start_.notify_all();
  {
    const OnProcessors here(processors_of(0));
    take_iterations(0);
  }
  wait(done_, [this] { return busy_ == 0; });
  loop_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadTeam::divide(size_t count) {
  size_t begin = 0;
  size_t threads = 0;
  for (Part& part : parts_) {
    threads += part.threads;
    part.next = begin;
    part.end = begin = count * threads / static_cast<size_t>(size());
  }
}

void ThreadTeam::take_iterations(int thread) {
  try {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(node_of(thread) + i) % parts_.size()];
      for (size_t at = part.next++; at < part.end; at = part.next++) {
        loop_->call(loop_->task, at, thread);
      }
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    for (Part& part : parts_) part.next = part.end;
  }
}

// Returns once ready(). A thread that sleeps begins tens of microseconds after it is woken, and
// threads are woken one after another: so a thread looks for a while first, within which the next
// loop of a search mostly begins. It gives way meanwhile only where the team has more threads than
// processors: a process of low priority that then gets the processor keeps it for milliseconds, and
// all threads wait. Where Pause() is nothing, as on ARM, it looks without pausing.
template <typename Ready>
void ThreadTeam::wait(std::condition_variable& changed, const Ready& ready) {
  constexpr std::chrono::microseconds kLooking{200};
  const auto until = std::chrono::steady_clock::now() + kLooking;
  do {
    if (ready()) return;
    if (yields_) {
      std::this_thread::yield();
    } else {
      hwy::Pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  std::unique_lock lock(mutex_);
  changed.wait(lock, ready);
}

void ThreadTeam::work(int thread) {
  const OnProcessors here(processors_of(thread));
  size_t seen = 0;
  for (;;) {
    wait(start_, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    take_iterations(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace engine::cpu
