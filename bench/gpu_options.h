// What gpu_bench is asked to measure. Pure.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/fused_plan.h"

namespace bench {

struct CaseOptions {
  int height = 0, width = 0;  // of the micrograph
  int n = 0;                  // of the template
};

// One way of correlating.
struct SideOptions {
  std::string fft, precision;
  engine::cuda::KernelWishes columns;  // of the fused path
};

// "chunks-first in-two": what of the two is known.
std::string words_of(const engine::cuda::KernelWishes& columns);

struct Options {
  std::vector<CaseOptions> cases;  // by default those of docs/cuda.md
  std::vector<SideOptions> sides;  // by default all; the first is what the others are compared with
  int rounds = 7;
  std::string json;    // the report's file; empty: none
  bool facts = false;  // measures no case
  bool help = false;
};

std::string usage();

// Throws UsageError naming the argument.
Options parse_options(const std::vector<std::string>& arguments);

}  // namespace bench
