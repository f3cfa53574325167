// A fixed team of threads that shares out the iterations of a loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace engine::cpu {

class ThreadTeam {
 public:
  // Starts threads - 1 threads; the calling thread is the last of the team. Throws Error when the
  // system refuses that many.
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(iteration, thread) once for every iteration in [0, count), in any order and on any
  // thread, and returns when all are done. Rethrows the first exception once all threads have
  // stopped.
  void run(size_t count, const std::function<void(size_t, int)>& task);

 private:
  void stop();
  void work(int thread);
  void take_iterations(int thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const std::function<void(size_t, int)>* task_ = nullptr;
  std::atomic<size_t> next_{0};
  size_t count_ = 0;
  size_t round_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace engine::cpu
