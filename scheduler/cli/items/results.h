// margay logs, margay results
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

struct LogOptions {
  int64_t item = 0;
  std::optional<int> attempt;  // default: the newest
  bool follow = false;         // continue until the attempt has ended
  std::chrono::milliseconds poll{1000};
};
Exit logs(const Context& context, const LogOptions& options);

struct ResultOptions {
  bool path_only = false;  // print the result's folder and nothing else
  // Copy peak list, manifest and images into this folder; for several items, each into its own
  // folder there.
  std::string output_directory;
};
Exit results(const Context& context, const std::vector<int64_t>& items,
             const ResultOptions& options);

}  // namespace scheduler::cli
