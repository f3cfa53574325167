// What the cluster's records of jobs mean for an attempt. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "db/records.h"
#include "slurm/cluster.h"

namespace scheduler {

// Orders jobs of one name by age: of a name that was submitted twice, the oldest job is the
// attempt's.
bool is_older(const slurm::JobStatus& a, const slurm::JobStatus& b);

// True when a fact that the cluster reports, or the state, differs: only then is there anything to
// store.
bool differs(const db::Attempt& a, const db::Attempt& b);

// Copies what the cluster reports of the attempt's job.
void copy_facts(const slurm::JobStatus& job, db::Attempt& attempt);

// The newest of accounting's records of the attempt's job, which has one for each requeue. Empty
// when there is none, and when one of them has not ended as far as accounting knows.
std::optional<slurm::JobStatus> last_record(const db::Attempt& attempt,
                                            const std::vector<slurm::JobStatus>& records);

}  // namespace scheduler
