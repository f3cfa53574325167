#include "engine/launch/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "engine/launch/output_capture.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

pid_t start(std::vector<std::string>& command, int messages) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string complaint = "cannot run '" + command.front() + "'\n";
  sigset_t none;
  sigemptyset(&none);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) base::throw_errno("cannot start '" + command.front() + "'");
  if (child > 0) return child;
  // Only what is safe between fork and exec. The parent may be gone before the child can ask to
  // be signalled with it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(126);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(messages, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  ::execvp(arguments[0], arguments.data());
  if (::write(STDERR_FILENO, complaint.data(), complaint.size()) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

ProcessResult run_subprocess(std::vector<std::string> command,
                             std::chrono::milliseconds grace_period,
                             const std::atomic<bool>& stop) {
  ::signal(SIGCHLD, SIG_DFL);  // inherited as ignored it would discard how a child ended
  const OutputCapture messages;
  const pid_t child = start(command, messages.file());
  Clock::time_point next_signal;
  int signals_sent = 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) != child) {
    if (stop && signals_sent < 2 && (signals_sent == 0 || Clock::now() >= next_signal)) {
      ::kill(child, signals_sent++ == 0 ? SIGTERM : SIGKILL);
      next_signal = Clock::now() + grace_period;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .messages = messages.text()};
}

}  // namespace engine
