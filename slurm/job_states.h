// Slurm's words for what a job is doing: pure tables.
#pragma once

#include <set>
#include <string>

#include "slurm/cluster.h"

namespace slurm {

// Slurm shows a base state and flags at once ({"CANCELLED", "COMPLETING"}). COMPLETING and the
// flags that mean more to come win over an end, so that a job is over only when it really is; a set
// with no word that we know is alive. Words as squeue, sacct and slurmrestd write them, "CANCELLED
// by 1000" included.
JobState state_of(const std::set<std::string>& words);
// Whether the job is over, however it ended.
bool is_over(JobState state);
// "CANCELLED+COMPLETING", "CANCELLED,COMPLETING" or "CANCELLED by 0" into words.
std::set<std::string> split_words(const std::string& text);
std::string join_words(const std::set<std::string>& words);

// What a reason (Resources, Priority, QOSMaxJobsPerUserLimit, AssocGrpGRES ...) means to the person
// who waits, one clause; the word itself when it is not known.
std::string meaning_of_reason(const std::string& reason);
// Whether the job will not start without somebody's doing (held, a limit that it can never meet).
bool needs_somebody(const std::string& reason);

// A raw wait status, as v0.0.38 gives it.
void set_exit_of_wait_status(int wait_status, JobStatus& job);

}  // namespace slurm
