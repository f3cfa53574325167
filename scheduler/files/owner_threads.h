// Runs work on users' files, which may never end: a file server that is down, or a user's own file
// system, blocks any thread that opens or reads a file there. Each owner has at most one thread, so
// that a hanging file system does not delay other owners. The last threads are kept for owners
// whose last work was answered in time.
//
// is_busy(), hanging() and finishes() may be called by any thread, the rest by one at a time.
// Nothing waits for a thread that hangs, not even the end of the process: its work must own all
// that it uses.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace scheduler {

struct OwnerThreadLimits {
  std::chrono::milliseconds timeout{2000};  // wait for one owner's file system in each round
  int threads = 64;
  int kept = 16;  // threads kept for owners whose last work was answered in time
};

class OwnerThreads {
 public:
  // Reports that the file system has answered, and at which path the work is. Called by the work's
  // thread.
  using Sign = std::function<void(const std::string& path)>;
  // Must not throw.
  using Work = std::function<void(const Sign&)>;

  explicit OwnerThreads(OwnerThreadLimits limits = {});
  OwnerThreads(const OwnerThreads&) = delete;
  OwnerThreads& operator=(const OwnerThreads&) = delete;

  // Begins a round: each owner may be waited for again.
  void begin_round();
  bool is_busy(int64_t owner) const;
  // False while the owner is busy, and when there is no thread for it.
  bool may_begin(int64_t owner);
  // Starts the work on the owner's thread; may_begin() must be true. Throws std::system_error when
  // the system has no thread left.
  void begin(int64_t owner, const std::string& path, Work work);
  // Waits for the end of the owner's work as long as it gives a sign in time, at most `longest`;
  // not at all when the last work was late. Returns false when it has not ended, and it may never
  // end.
  bool ends(int64_t owner, std::chrono::milliseconds longest = std::chrono::hours(24));
  // As ends(), for a caller that waits only for this owner: waits as long as there is a sign in
  // time, whatever happened to earlier work, and at most `longest`. Returns true when the owner is
  // not busy.
  bool finishes(int64_t owner, std::chrono::milliseconds longest) const;
  // The owners whose work has given no sign in time, or has found no thread, with a clause for
  // users: "the file system of 'PATH' has not answered for 35 s".
  std::map<int64_t, std::string> hanging() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace scheduler
