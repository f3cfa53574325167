// What `margay doctor` and `margayd --doctor` print.
#pragma once

#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace scheduler::cli {

// A line for each finding, its advice beneath, how many are bad at the end. Broken at `columns`,
// 0: as wide as it needs.
std::string findings_text(const std::vector<slurm::Finding>& findings, int columns, bool colour);

}  // namespace scheduler::cli
