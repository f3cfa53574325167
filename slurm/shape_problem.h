// What is wrong with a shape's needs, in words: shared by the checks against partitions and against
// accounting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slurm/accounting_facts.h"
#include "slurm/cluster.h"

namespace slurm {

struct ShapeProblem {
  enum class LiftedBy { kNothing, kPartitionTimeLimit, kPartitionMaxNodes };  // flags of a QOS
  std::string says{};                                                         // one clause
  std::string need{};  // the need's name in ShapeNeeds::sources
  LiftedBy lifted_by = LiftedBy::kNothing;
  // The unknown condition under which it is a problem, a clause; empty: it is one.
  std::string only_if{};
};
using ShapeProblems = std::vector<ShapeProblem>;

std::string megabytes_text(int64_t mb);
std::string minutes_text(int64_t minutes);  // below 0: "unlimited time"

struct AccountingProblems {
  ShapeProblems never{};  // no job of the shape would start
  // Jobs would start, but fewer at once than Margay lets wait in Slurm.
  ShapeProblems slow{};
};

// The problems of a shape whose jobs have these limits.
AccountingProblems problems_of_accounting(const ShapeNeeds& needs, const LimitsOfJob& limits);

}  // namespace slurm
