// What `margay doctor` and `margayd --doctor` print.
#pragma once

#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace scheduler::cli {

// A line for each finding with its advice beneath, and the counts at the end. Lines break at
// `columns`; 0: never.
std::string findings_text(const std::vector<slurm::Finding>& findings, int columns, bool colour);

}  // namespace scheduler::cli
