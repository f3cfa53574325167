// margay results for many items: one file with their peaks
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"
#include "scheduler/cli/terminal/exit.h"

namespace scheduler::cli {

struct ExportOptions {
  std::vector<int64_t> items;
  std::string star;  // path of the STAR file; empty: none
  std::string csv;   // path of the table; empty: none
  // RELION's project folder, to which the micrographs' paths are relative; may be empty
  std::string project;
};

// Throws Failure where a file is named as one of another kind.
void check_names(const ExportOptions& options);

// Writes the files; items without a result are reported and left out. Throws Failure.
Exit export_peaks(const Context& context, const ExportOptions& options);

}  // namespace scheduler::cli
