#include "base/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/size_text.h"
#include "base/spawn.h"

namespace base {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kLookEvery{50};
constexpr Milliseconds kKilledWithin{2'000};  // what the kernel lets be killed is gone by then

struct Pipe {
  Descriptor read;
  Descriptor write;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
};

// The child inherits none of the daemon's files and signal settings, and leads a process group, so
// that all its processes can be killed. Returns 0 or the error number of the start.
int start(const Command& command, int output, int error, pid_t& child) {
  Spawn spawn(POSIX_SPAWN_SETPGROUP);
  if (command.input < 0) {
    spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  } else {
    spawn.duplicate(command.input, STDIN_FILENO);
  }
  spawn.duplicate(output, STDOUT_FILENO);
  spawn.duplicate(error, STDERR_FILENO);
  spawn.close_from(STDERR_FILENO + 1);
  spawn.enter("/");
  std::vector<std::string> words = command.arguments;
  words.insert(words.begin(), command.program);
  std::vector<std::string> settings;
  for (const auto& [name, value] : command.environment) settings.push_back(name + "=" + value);
  return spawn.run(std::move(words), std::move(settings), child);
}

// Of a process; 0 when it has ended.
uint64_t resident_bytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Reads what is there now, and closes the pipe at its end.
void drain(Descriptor& pipe, size_t most, std::string& text, bool& cut) {
  std::array<char, 65536> buffer{};
  while (pipe) {
    const ssize_t count = ::read(pipe.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      pipe.reset();
      return;
    }
    const size_t kept = std::min(static_cast<size_t>(count), most - std::min(most, text.size()));
    text.append(buffer.data(), kept);
    cut = cut || kept < static_cast<size_t>(count);
  }
}

class Running {
 public:
  Running(const Command& command, pid_t child, Descriptor& output, Descriptor& error)
      : command_(command), child_(child), output_(output), error_(error) {
    process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (!process_) {
      const int number = errno;
      kill_group(SIGKILL);
      reap();
      throw std::system_error(number, std::generic_category(), "cannot watch " + command.program);
    }
  }

  CommandResult wait() {
    const bool in_time = watch(Clock::now() + command_.timeout, true);
    if (!in_time) {
      kill_group(SIGTERM);
      watch(Clock::now() + command_.kill_wait, false);
      // The leader is not reaped yet, so that no other group can have its number.
      kill_group(SIGKILL);
      // A process that waits in the kernel for a device or a file system that does not answer ends
      // only when that does.
      if (!watch(Clock::now() + kKilledWithin, false)) {
        reap_later();
        result_.ending = CommandResult::Ending::kTimedOut;
        result_.why =
            command_.program + " cannot be killed: it waits in the kernel, as for a device";
        return std::move(result_);
      }
    }
    const int status = reap();
    drain(output_, command_.most_output, result_.output, result_.cut);
    drain(error_, command_.most_output, result_.error, result_.cut);
    describe_end(in_time, status);
    return std::move(result_);
  }

 private:
  // Without it a process that ends after all would stay in the table of processes.
  void reap_later() const {
    try {
      std::thread([child = child_] {
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
      }).detach();
    } catch (const std::system_error&) {
      // There are too many threads: the process is reaped when this one ends.
    }
  }
  // Waits until the process has ended and, with `all_output`, every writer has closed its output.
  // False: that took until after the deadline, or the process has passed another limit.
  bool watch(Clock::time_point deadline, bool all_output) {
    bool ended = false;
    while (!ended || (all_output && (output_ || error_))) {
      std::array<pollfd, 3> watched = {{{ended ? -1 : process_.get(), POLLIN, 0},
                                        {output_.get(), POLLIN, 0},
                                        {error_.get(), POLLIN, 0}}};
      const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
      if (left <= 0 || (all_output && !may_go_on())) return false;
      const auto wait = is_looked_at() ? std::min<int64_t>(left, kLookEvery.count()) : left;
      const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(wait));
      if (ready < 0 && errno != EINTR) {
        throw_errno("poll");
      }
      if (ready <= 0) continue;
      ended = ended || watched[0].revents != 0;
      drain(output_, command_.most_output, result_.output, result_.cut);
      drain(error_, command_.most_output, result_.error, result_.cut);
    }
    return true;
  }

  bool is_looked_at() const { return command_.most_memory > 0 || command_.look; }
  bool may_go_on() {
    const uint64_t most = command_.most_memory;
    if (most > 0 && resident_bytes(child_) > most) {
      beyond_ = "took more than " + size_text(static_cast<int64_t>(most)) + " of memory";
    } else if (command_.look && !command_.look()) {
      beyond_ = "was stopped";
    }
    return beyond_.empty();
  }

  void kill_group(int signal) const { ::kill(-child_, signal); }

  int reap() const {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0) {
      if (errno != EINTR) throw_errno("waitpid");
    }
    return status;
  }

  void describe_end(bool in_time, int status) {
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    result_.ending = in_time ? CommandResult::Ending::kEnded : CommandResult::Ending::kTimedOut;
    if (!beyond_.empty()) {
      result_.why = command_.program + " " + beyond_;
    } else if (!in_time) {
      const auto seconds = std::chrono::duration<double>(command_.timeout).count();
      std::string text = std::to_string(seconds);
      text.resize(text.find('.') + 2);
      result_.why = command_.program + " did not end within " + text + " s";
    } else if (result_.signal != 0) {
      result_.why = command_.program + " was killed by signal " + std::to_string(result_.signal);
    } else if (result_.exit_code != 0) {
      result_.why = command_.program + " ended with " + std::to_string(result_.exit_code);
    } else if (result_.cut) {
      result_.why = command_.program + " wrote more than " +
                    size_text(static_cast<int64_t>(command_.most_output));
    }
  }

  const Command& command_;
  pid_t child_;
  Descriptor& output_;
  Descriptor& error_;
  Descriptor process_;
  std::string beyond_;  // which limit but that of time it has passed
  CommandResult result_;
};

}  // namespace

CommandResult run_command(const Command& command) {
  Pipe output;
  Pipe error;
  pid_t child = 0;
  const int failure = start(command, output.write.get(), error.write.get(), child);
  if (failure != 0) {
    CommandResult result;
    result.why = "cannot start " + command.program + ": " + std::strerror(failure);
    return result;
  }
  output.write.reset();
  error.write.reset();
  return Running(command, child, output.read, error.read).wait();
}

}  // namespace base
