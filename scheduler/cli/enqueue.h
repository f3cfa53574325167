// margay enqueue
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"
#include "scheduler/cli/micrographs.h"

namespace scheduler::cli {

struct EnqueueOptions {
  std::vector<std::string> files;
  std::string search_template;
  std::string priority = "normal";
  CtfOptions ctf;
  std::string label;
  std::string group;  // that the items count for; empty: the caller's primary one
  bool again = false;
  bool hold = false;
  int64_t finish_by = 0;                       // the deadline; 0: none
  std::map<std::string, std::string> options;  // sbatch's long names and values
};

Exit enqueue(const Context& context, const EnqueueOptions& options);

}  // namespace scheduler::cli
