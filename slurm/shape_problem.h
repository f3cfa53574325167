// What is wrong with what a shape asks for, in words: shared by those who compare it with
// partitions and with accounting.
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
  std::string need{};  // its name in ShapeNeeds::sources
  LiftedBy lifted_by = LiftedBy::kNothing;
  std::string only_if{};  // what is not known and makes it one, a clause; empty: it is one
};
using ShapeProblems = std::vector<ShapeProblem>;

std::string megabytes_text(int64_t mb);
std::string minutes_text(int64_t minutes);  // below 0: "unlimited time"

struct AccountingProblems {
  ShapeProblems never{};  // no job of the shape would start
  ShapeProblems slow{};   // one would, but fewer at once than Margay lets wait in Slurm
};

// Of a shape whose jobs are limited so.
AccountingProblems problems_of_accounting(const ShapeNeeds& needs, const LimitsOfJob& limits);

}  // namespace slurm
