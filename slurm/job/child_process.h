// A program that margay-job starts and waits for.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "slurm/job/job_arguments.h"

namespace slurm {

enum class Input { kOurs, kNone };

// The program is looked for in PATH and starts with default signal handlers and no blocked signals.
// When it cannot be started, `failure` is 126 or 127 and the reason is in the log.
struct Started {
  pid_t pid = -1;
  int failure = 0;  // the exit code when there is no process
};
Started start_program(const Words& command, Input input);

// The signals that ask a job to stop, and SIGCHLD. They are blocked, and this process receives them
// only by waiting for them.
sigset_t job_signals();
void block_job_signals();

}  // namespace slurm
