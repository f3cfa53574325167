// A fixed team of threads that shares out the iterations of a loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/cpu/memory_nodes.h"

namespace engine::cpu {

class ThreadTeam {
 public:
  // Starts threads - 1 threads; the calling thread is the last of the team. With several memory
  // nodes each thread stays on one (nodes_of_threads()). Throws Error when the system refuses that
  // many.
  explicit ThreadTeam(int threads, std::vector<Processors> nodes = memory_nodes());
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(iteration, thread) once for every iteration in [0, count), in any order and on any
  // thread, and returns when all are done. The threads of each memory node begin with the node's
  // own part of the iterations, the same for the same count, so that what a part has written is
  // near the next time. Rethrows the first exception once all threads have stopped.
  template <typename Task>
  void run(size_t count, const Task& task) {
    run_loop(count, {&task, [](const void* of, size_t iteration, int thread) {
                       (*static_cast<const Task*>(of))(iteration, thread);
                     }});
  }

 private:
  // A task of any type. std::function might allocate memory for it.
  struct Loop {
    const void* task;
    void (*call)(const void* task, size_t iteration, int thread);
  };
  // The iterations of one node's threads, which the others take, too, when theirs are done.
  struct Part {
    std::atomic<size_t> next{0};
    size_t end = 0;
    size_t threads = 0;
  };

  void run_loop(size_t count, const Loop& loop);
  void stop();
  template <typename Ready>
  void wait(std::condition_variable& changed, const Ready& ready);
  void work(int thread);
  void divide(size_t count);
  void take_iterations(int thread);
  size_t node_of(int thread) const;
  Processors processors_of(int thread) const;

  const std::vector<Processors> nodes_;
  const std::vector<size_t> nodes_of_threads_;  // empty: any thread may run anywhere
  const bool yields_;  // more threads than processors that this process may use
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const Loop* loop_ = nullptr;
  std::vector<Part> parts_;
  std::exception_ptr failure_;
  // Changed with the mutex held, so that no thread that sleeps misses it; a thread that looks reads
  // them without.
  std::atomic<size_t> round_ = 0;
  std::atomic<int> busy_ = 0;
  std::atomic<bool> stopping_ = false;
};

}  // namespace engine::cpu
