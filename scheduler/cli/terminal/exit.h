// Exit codes of `margay`, and the exception that carries one.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace scheduler::cli {

enum class Exit {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  kPartial = 3,  // some of several failed
  kNotFound = 4,
  kNotPermitted = 5,
  kConflict = 6,
  kUnreachable = 7,
  kTimedOut = 9,
  kToDo = 10,  // `plan`: a job is to be submitted or stopped
};

// Convert to and from the API's word for a kind of error.
std::string kind_of(Exit exit);
Exit exit_of_kind(const std::string& kind);

class Failure : public std::runtime_error {
 public:
  Failure(Exit exit, const std::string& message, int64_t item = 0, bool passes = false)
      : std::runtime_error(message), exit_(exit), item_(item), passes_(passes) {}
  Exit exit() const { return exit_; }
  // Whether the same request may succeed a little later: the daemon is not running, or is too busy.
  bool passes() const { return passes_ || exit_ == Exit::kUnreachable; }
  // The conflicting item; 0: none.
  int64_t item() const { return item_; }

 private:
  Exit exit_;
  int64_t item_;
  bool passes_;
};

// The exit code of a command over several items or files.
class Tally {
 public:
  void succeeded() { ++succeeded_; }
  void failed(Exit exit);
  // kOk when none failed, kPartial when some did; when all did, their common code, or kFailed if
  // they differ.
  Exit exit() const;
  int64_t successes() const { return succeeded_; }
  int64_t failures() const { return failures_; }

 private:
  int64_t succeeded_ = 0;
  int64_t failures_ = 0;
  Exit shared_ = Exit::kOk;
};

}  // namespace scheduler::cli
