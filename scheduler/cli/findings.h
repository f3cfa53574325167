// The output of `margay doctor` and `margayd --doctor`.
#pragma once

#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace scheduler::cli {

// A line for each finding with its advice below it, and the counts at the end. Lines are wrapped at
// `columns`; 0: never.
std::string findings_text(const std::vector<slurm::Finding>& findings, int columns, bool colour);

}  // namespace scheduler::cli
