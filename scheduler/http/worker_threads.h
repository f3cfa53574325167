// Threads that run the functions given to them, in that order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace scheduler::api {

class WorkerThreads {
 public:
  explicit WorkerThreads(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  // Waits for all given work.
  ~WorkerThreads() {
    {
      const std::scoped_lock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // `work` must not throw.
  void give(std::function<void()> work) {
    {
      const std::scoped_lock lock(mutex_);
      works_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || !works_.empty(); });
      if (works_.empty()) return;
      {
        const std::function<void()> work = std::move(works_.front());
        works_.pop_front();
        lock.unlock();
        work();
      }
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> works_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace scheduler::api
