// margay logs, margay results
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct LogOptions {
  int64_t item = 0;
  std::optional<int> attempt;  // default: the newest
  bool follow = false;         // read on until the attempt has ended
  std::chrono::milliseconds poll{1000};
};
Exit logs(const Context& context, const LogOptions& options);

struct ResultOptions {
  int64_t item = 0;
  bool path_only = false;        // print the result's folder and nothing else
  std::string output_directory;  // copy peak list, manifest and pictures into this folder
};
Exit results(const Context& context, const ResultOptions& options);

}  // namespace scheduler::cli
