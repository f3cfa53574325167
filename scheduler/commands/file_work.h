// Runs work on a user's files for a request that waits for the result. Their file system may never
// answer: the work runs on a thread for that user (owner_threads.h), so that the request can stop
// waiting and report why.
//
// May be called by any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "scheduler/files/owner_threads.h"

namespace scheduler {

struct FileWorkOptions {
  OwnerThreadLimits threads{};
  std::chrono::milliseconds longest = std::chrono::minutes(10);  // that a request waits
  // Called before each work, by the thread that does it; may be unset.
  std::function<void(const std::string& path)> before{};
};

class FileWork {
 public:
  // Reports that the file system has answered, and at which path the work is. Returns false when
  // nobody waits for the result any more.
  using Sign = std::function<bool(const std::string& path)>;

  explicit FileWork(FileWorkOptions options = {})
      : options_(std::move(options)), threads_(options_.threads) {}

  // Returns what `work` returns, and throws what it throws. Works of one owner run one after the
  // other. Throws Unavailable when the file system of `path`, where the work begins, does not
  // answer in time. `work` must own all that it uses.
  template <typename Result>
  Result ask(int64_t owner, const std::string& path, std::function<Result(const Sign&)> work) {
    const auto result = std::make_shared<std::optional<Result>>();
    run(owner, path, [result, work = std::move(work)](const Sign& sign) { *result = work(sign); });
    return std::move(result->value());
  }
  // Ends all waiting: from here on ask() throws Unavailable.
  void stop() { stopped_ = true; }

 private:
  struct Task;
  void run(int64_t owner, const std::string& path, const std::function<void(const Sign&)>& work);
  std::shared_ptr<Task> begin(int64_t owner, const std::string& path,
                              std::function<void(const Sign&)> work);
  bool wait_for_turn(int64_t owner, std::chrono::steady_clock::time_point latest) const;
  [[noreturn]] void give_up(int64_t owner, const std::string& path) const;

  const FileWorkOptions options_;
  OwnerThreads threads_;
  std::mutex beginning_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace scheduler
