// The processes of one job of the fake Slurm.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/fakes/fake_job.h"

namespace tests {

// Starts the job's script in a new session, `srun_folder` in front of its PATH. Returns the leader,
// or 0 when it cannot be started: no such folder, no such output.
pid_t spawn_job(const FakeJob& job, const std::string& folder, const std::string& srun_folder);

// Living processes of a session; none of them a zombie.
std::vector<pid_t> members_of_session(pid_t leader);
void signal_session(pid_t leader, int number);
// Only what srun started, as Slurm does: the script itself gets nothing.
void signal_steps(pid_t leader, int number);

}  // namespace tests
