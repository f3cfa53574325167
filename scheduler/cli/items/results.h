// margay results
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct ResultOptions {
  bool path_only = false;  // print the result's folder and nothing else
  // Copy peak list, manifest and images into this folder; for several items, each into its own
  // folder there.
  std::string output_directory;
};
Exit results(const Context& context, const std::vector<int64_t>& items,
             const ResultOptions& options);

}  // namespace scheduler::cli
