#include "engine/cpu/thread_team.h"

#include <string>
#include <system_error>

#include "engine/error.h"

namespace engine::cpu {

ThreadTeam::ThreadTeam(int threads) {
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

void ThreadTeam::run(size_t count, const std::function<void(size_t, int)>& task) {
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  start_.notify_all();
  take_iterations(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  task_ = nullptr;
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadTeam::take_iterations(int thread) {
  try {
    for (size_t i = next_++; i < count_; i = next_++) (*task_)(i, thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    next_ = count_;
  }
}

void ThreadTeam::work(int thread) {
  size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    take_iterations(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace engine::cpu
