// A program that margay-job starts and waits for.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "slurm/job/job_arguments.h"

namespace slurm {

enum class Input { kOurs, kNone };

// The program is looked for in PATH and has the default answer to each signal, whatever this
// process has blocked. 126 or 127, with the reason in the log, when it cannot be started.
struct Started {
  pid_t pid = -1;
  int failure = 0;  // the exit code in place of a process
};
Started start_program(const Words& command, Input input);

// The signals that ask a job to stop, and SIGCHLD: this process takes them when it waits for them,
// and no other way.
sigset_t job_signals();
void block_job_signals();

}  // namespace slurm
