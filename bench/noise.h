// A search in noise, to be timed: speed does not depend on what is found, but on how often a pixel
// has a new maximum.
#pragma once

#include <span>
#include <vector>

#include "bench/gpu_options.h"
#include "engine/backend/backend.h"

namespace bench {

class Noise {
 public:
  explicit Noise(const CaseOptions& wanted);

  static engine::ProblemShape shape_of(const CaseOptions& wanted);
  engine::ProblemShape shape() const;
  const engine::Problem& problem() const { return problem_; }
  // Pairs of psi and psi + 180.
  std::span<const engine::Unit> units() const { return units_; }
  // What such a search has accumulated after a million correlations of deviation 1.
  engine::Accumulators after_a_million() const;

 private:
  engine::Problem problem_;
  std::vector<engine::Unit> units_;
};

}  // namespace bench
