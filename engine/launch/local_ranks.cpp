#include "engine/launch/local_ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/private_folder.h"
#include "engine/launch/output_capture.h"
#include "engine/launch/random_id.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

struct RankExit {
  int rank = 0;
  int signal = 0;  // 0: it ended by itself
  int code = 0;

  bool has(ExitCode wanted) const { return signal == 0 && code == static_cast<int>(wanted); }
  bool failed() const { return !has(ExitCode::kDone) && !has(ExitCode::kStopped); }
};

RankExit exit_of(int rank, const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.rank = rank, .code = info.si_status};
  return {.rank = rank, .signal = info.si_status, .code = 128 + info.si_status};
}

std::vector<std::string> arguments_of_rank(const LocalRanks& ranks, int rank,
                                           const std::string& place, const std::string& run_id) {
  std::vector<std::string> words = ranks.command;
  words.insert(words.end(),
               {"--rank", std::to_string(rank), "--world-size", std::to_string(ranks.count)});
  if (ranks.devices.empty()) words.insert(words.end(), {"--local-rank", std::to_string(rank)});
  words.insert(words.end(), {"--rendezvous", place, "--run-id", run_id});
  return words;
}

std::vector<std::string> environment_of_rank(const LocalRanks& ranks, int rank) {
  const std::string variable = "CUDA_VISIBLE_DEVICES=";
  std::vector<std::string> environment;
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  if (ranks.devices.empty()) return environment;
  std::erase_if(environment, [&](const std::string& one) { return one.starts_with(variable); });
  environment.push_back(variable + ranks.devices.at(static_cast<size_t>(rank)));
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The processes of all ranks.
class RankProcesses {
 public:
  explicit RankProcesses(const LocalRanks& ranks) {
    if (!dev_null_) base::throw_errno("cannot open /dev/null");
    const std::string run_id = random_id();
    for (int rank = 0; rank < ranks.count; ++rank) {
      const bool captured = rank > 0 || ranks.quiet;
      messages_.push_back(captured ? std::make_unique<OutputCapture>() : nullptr);
    }
    try {
      for (int rank = 0; rank < ranks.count; ++rank) {
        processes_.push_back(
            start(rank, arguments_of_rank(ranks, rank, "file:" + folder_.path() + "/rank0", run_id),
                  environment_of_rank(ranks, rank)));
      }
      for (int rank = 0; rank < ranks.count; ++rank) {
        waiters_.emplace_back([this, rank] { wait_for(rank); });
      }
    } catch (...) {
      end_all();
      throw;
    }
  }

  ~RankProcesses() { end_all(); }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  // The next one that has ended, in the order in which they did; waits that long for it.
  std::optional<RankExit> next_exit(Milliseconds wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!ended_.wait_for(lock, wait, [&] { return !exits_.empty(); })) return std::nullopt;
    const RankExit exit = exits_.front();
    exits_.pop_front();
    return exit;
  }

  // To all that have not ended.
  void signal(int number) const {
    for (const pid_t process : processes_) ::kill(process, number);
  }
  // True where this rank's messages are kept instead of passed through.
  bool captures_output(int rank) const { return messages_[static_cast<size_t>(rank)] != nullptr; }
  std::string messages(int rank) const { return messages_[static_cast<size_t>(rank)]->text(); }

 private:
  void end_all() {
    signal(SIGKILL);
    for (std::thread& waiter : waiters_) waiter.join();
    for (const pid_t process : processes_) {
      while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
    }
  }

  // The child keeps the signals blocked that are blocked here: a stop that comes before the rank
  // listens waits for it.
  pid_t start(int rank, std::vector<std::string> words,
              std::vector<std::string> environment) const {
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> variables = pointers_to(environment);
    const std::string complaint = "cannot run '" + words.front() + "'\n";
    const int messages = captures_output(rank) ? messages_[static_cast<size_t>(rank)]->file() : -1;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) base::throw_errno("cannot start rank " + std::to_string(rank));
    if (child > 0) return child;
    // Only what is safe between fork and exec. The parent may be gone before the child can ask to
    // be killed with it.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(126);
    if (messages >= 0) {
      ::dup2(dev_null_.get(), STDIN_FILENO);
      ::dup2(messages, STDOUT_FILENO);
      ::dup2(messages, STDERR_FILENO);
    }
    ::execvpe(arguments[0], arguments.data(), variables.data());
    if (::write(STDERR_FILENO, complaint.data(), complaint.size()) < 0) ::_exit(126);
    ::_exit(127);
  }

  // How this rank has ended; nothing where `options` say not to wait and it runs.
  std::optional<RankExit> wait_until_ended(int rank, int options) const {
    siginfo_t info = {};
    const auto process = static_cast<id_t>(processes_[static_cast<size_t>(rank)]);
    while (::waitid(P_PID, process, &info, WEXITED | WNOWAIT | options) != 0 && errno == EINTR) {
      continue;
    }
    if (info.si_pid == 0) return std::nullopt;
    return exit_of(rank, info);
  }

  // A thread for each, since that wakes in the order of the ends, or nearly so, on every kernel.
  void wait_for(int rank) {
    const std::optional<RankExit> exit = wait_until_ended(rank, 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (rank > 0) {
      // A loaded machine may wake this thread first. What rank 0 fails with may follow from another
      // rank only where it is a device fault, as which a lost rank counts.
      const std::optional<RankExit> first = wait_until_ended(0, WNOHANG);
      if (first && first->failed() && first->signal == 0 && !first->has(ExitCode::kDeviceFault)) {
        add(*first);
      }
    }
    add(*exit);
  }

  // Once for each rank. Call with mutex_ held.
  void add(const RankExit& exit) {
    if (added_.insert(exit.rank).second) exits_.push_back(exit);
    ended_.notify_one();
  }

  base::PrivateFolder folder_{"ranks"};
  base::Descriptor dev_null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  std::vector<std::unique_ptr<OutputCapture>> messages_;  // by rank; rank 0's may pass through
  std::vector<pid_t> processes_;  // reaped at the end, so that each id stays its own
  std::vector<std::thread> waiters_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<RankExit> exits_;
  std::set<int> added_;  // ranks that are or were in exits_
};

std::string prefix_lines(int rank, const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += "rank " + std::to_string(rank) + ": " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// Records how ranks end, and decides what follows.
class Supervisor {
 public:
  explicit Supervisor(const LocalRanks& ranks) : ranks_(ranks), processes_(ranks) {}

  int run(const std::atomic<bool>& stop) {
    bool forwarded = false;
    for (int living = ranks_.count; living > 0;) {
      if (const auto exit = processes_.next_exit(Milliseconds(50))) {
        --living;
        record(*exit);
      }
      if (stop && !std::exchange(forwarded, true)) processes_.signal(SIGTERM);
      stop_stragglers();
    }
    const bool rank_0_counts =
        ranks_.continue_on_rank_loss || !failure_ || rank_0_->has(ExitCode::kDone);
    return rank_0_counts ? rank_0_->code : failure_->code;
  }

 private:
  static constexpr Milliseconds kAfterRank0{5000};

  void record(const RankExit& exit) {
    const bool job_done = rank_0_ && !rank_0_->failed();
    if (exit.rank == 0) rank_0_ = exit;
    const bool by_itself = signals_sent_ == 0;
    if (exit.failed() && by_itself) {
      // What follows from rank 0's own failure only hides it.
      const bool follows = rank_0_ && rank_0_->failed() && exit.rank > 0 && exit.signal == 0;
      if (!follows) show(exit);
      if (!job_done && (!failure_ || (exit.signal != 0 && failure_->signal == 0))) {
        failure_ = exit;
      }
    }
    const bool is_the_end = exit.rank == 0 || (exit.failed() && !ranks_.continue_on_rank_loss);
    if (exit.rank == 0 || (is_the_end && !waiting_since_)) waiting_since_ = Clock::now();
  }

  void show(const RankExit& exit) const {
    std::string text;
    if (processes_.captures_output(exit.rank)) {
      text = processes_.messages(exit.rank);
      if (exit.rank > 0) text = prefix_lines(exit.rank, text);
    }
    const std::string name = "rank " + std::to_string(exit.rank);
    if (exit.signal != 0) {
      const char* const signal = ::sigabbrev_np(exit.signal);
      text += name + " was ended by signal " + std::to_string(exit.signal) +
              (signal == nullptr ? "" : " (SIG" + std::string(signal) + ")") + "\n";
    } else if (exit.rank > 0) {
      text += name + " ended with exit code " + std::to_string(exit.code) + "\n";
    }
    std::cerr << text << std::flush;
  }

  // Signals the ranks that do not end by themselves.
  void stop_stragglers() {
    if (!waiting_since_ || signals_sent_ == 2) return;
    const auto waited = std::chrono::duration_cast<Milliseconds>(Clock::now() - *waiting_since_);
    // Without rank 0 the others have nothing left to do.
    const Milliseconds grace =
        rank_0_ ? std::min(ranks_.grace_period, kAfterRank0) : ranks_.grace_period;
    if (waited < grace) return;
    processes_.signal(signals_sent_ == 0 ? SIGTERM : SIGKILL);
    ++signals_sent_;
    waiting_since_ = Clock::now();
  }

  const LocalRanks& ranks_;
  RankProcesses processes_;
  std::optional<RankExit> rank_0_, failure_;
  std::optional<Clock::time_point> waiting_since_;
  int signals_sent_ = 0;  // SIGTERM, SIGKILL
};

}  // namespace

int run_local_ranks(const LocalRanks& ranks, const std::atomic<bool>& stop) {
  if (ranks.count < 1) throw UsageError("--nproc needs at least one rank");
  ::signal(SIGCHLD, SIG_DFL);  // inherited as ignored it would discard how a child ended
  return Supervisor(ranks).run(stop);
}

}  // namespace engine
