#include "slurm/job/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "slurm/job/job_rules.h"

namespace slurm {

Started start_program(const Words& command, Input input) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (input == Input::kNone) {
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  Started started;
  const int error =
      posix_spawnp(&started.pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    std::fprintf(stderr, "margay-job: cannot start '%s': %s\n", arguments[0], std::strerror(error));
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
