#include "slurm/job/child_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/spawn.h"
#include "slurm/job/job_rules.h"

namespace slurm {

Started start_program(const Words& command, Input input) {
  base::Spawn spawn;
  if (input == Input::kNone) spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  Started started;
  const int error = spawn.run(command, started.pid);
  if (error != 0) {
    std::fprintf(stderr, "margay-job: cannot start '%s': %s\n", command[0].c_str(),
                 std::strerror(error));
    started = {.pid = -1, .failure = error == ENOENT ? kNotFound : kCannotRun};
  }
  return started;
}

sigset_t job_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, number);
  return signals;
}

void block_job_signals() {
  // Whoever started this process may ignore the ends of its children, and then there are none to
  // wait for.
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t signals = job_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace slurm
