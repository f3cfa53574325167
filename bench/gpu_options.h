// What gpu_bench is asked to measure. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct CaseOptions {
  int height = 0, width = 0;  // of the micrograph
  int n = 0;                  // of the template
};

struct Options {
  std::vector<CaseOptions> cases;  // by default those of docs/cuda.md
  int rounds = 7;
  std::string json;  // the report's file; empty: none
  bool help = false;
};

std::string usage();

// Throws UsageError naming the argument.
Options parse_options(const std::vector<std::string>& arguments);

// --fft and --precision of each side; the first is what the others are compared with.
std::vector<std::pair<std::string, std::string>> ways_of_transforming();

}  // namespace bench
