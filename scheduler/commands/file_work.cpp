#include "scheduler/commands/file_work.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <utility>

#include "scheduler/errors.h"

namespace scheduler {
namespace {

using Steady = std::chrono::steady_clock;

// How soon a silent file system, and the end of the daemon, are noticed.
constexpr std::chrono::milliseconds kLookEvery{50};

}  // namespace

// Shared by the thread that works and the one that waits.
struct FileWork::Task {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;
  std::atomic<bool> given_up = false;

  void end(std::exception_ptr with) {
    const std::scoped_lock lock(mutex);
    error = std::move(with);
    ended = true;
    changed.notify_all();
  }
  // Once it has ended. The exception is then the caller's alone.
  std::exception_ptr take_error() {
    const std::scoped_lock lock(mutex);
    return std::exchange(error, nullptr);
  }
  bool ends_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ended; });
  }
};

void FileWork::give_up(int64_t owner, const std::string& path) const {
  if (stopped_) throw Unavailable("margayd is stopping; try again once it has been restarted");
  const auto hanging = threads_.hanging();
  const auto why = hanging.find(owner);
  if (why != hanging.end()) throw Unavailable(why->second + "; try again when it does");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.longest).count();
  throw Unavailable("'" + path + "' was not read within " + std::to_string(seconds) +
                    " s; try again when its file system is faster");
}

// False: the owner's last work has not ended.
bool FileWork::wait_for_turn(int64_t owner, Steady::time_point latest) const {
  while (!stopped_ && Steady::now() < latest) {
    if (threads_.finishes(owner, kLookEvery)) return true;
    if (threads_.hanging().count(owner) != 0) return false;
  }
  return false;
}

// Null: there is no thread for it, or the owner's is busy.
std::shared_ptr<FileWork::Task> FileWork::begin(int64_t owner, const std::string& path,
                                                std::function<void(const Sign&)> work) {
  const std::scoped_lock lock(beginning_);
  if (!threads_.may_begin(owner)) return nullptr;
  const auto task = std::make_shared<Task>();
  threads_.begin(owner, path,
                 [task, path, before = options_.before,
                  work = std::move(work)](const OwnerThreads::Sign& note) {
                   std::exception_ptr error;
                   try {
                     if (before) before(path);
                     work([&](const std::string& at) {
                       note(at);
                       return !task->given_up;
                     });
                   } catch (...) {
                     error = std::current_exception();
                   }
                   task->end(std::move(error));
                 });
  return task;
}

void FileWork::run(int64_t owner, const std::string& path,
                   const std::function<void(const Sign&)>& work) {
  const auto latest = Steady::now() + options_.longest;
  std::shared_ptr<Task> task;
  while (!task) {
    if (!wait_for_turn(owner, latest)) give_up(owner, path);
    task = begin(owner, path, work);
    // There may be no thread for it.
    if (!task && threads_.hanging().count(owner) != 0) give_up(owner, path);
  }
  while (!task->ends_within(kLookEvery)) {
    const bool waits = !stopped_ && Steady::now() < latest && threads_.hanging().count(owner) == 0;
    if (waits) continue;
    task->given_up = true;
    give_up(owner, path);
  }
  if (std::exception_ptr error = task->take_error()) std::rethrow_exception(std::move(error));
}

}  // namespace scheduler
