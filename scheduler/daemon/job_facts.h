// What the cluster's records of jobs mean for an attempt. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "db/records.h"
#include "slurm/cluster.h"

namespace scheduler {

// Orders jobs of one name by age: if a name was submitted twice, the oldest job is the attempt's.
bool is_older(const slurm::JobStatus& a, const slurm::JobStatus& b);

// True when the state or a fact that the cluster reports differs; otherwise nothing needs to be
// stored.
bool differs(const db::Attempt& a, const db::Attempt& b);

// Copies what the cluster reports of the attempt's job.
void copy_facts(const slurm::JobStatus& job, db::Attempt& attempt);

// The newest of accounting's records of the attempt's job; there is one for each requeue. nullopt
// when there is none, or when one of them has not ended.
std::optional<slurm::JobStatus> last_record(const db::Attempt& attempt,
                                            const std::vector<slurm::JobStatus>& records);

}  // namespace scheduler
