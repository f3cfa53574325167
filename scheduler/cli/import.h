// margay import
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/enqueue.h"

namespace scheduler::cli {

struct ImportOptions {
  std::string list;     // RELION's STAR file or cryoSPARC's .cs
  std::string project;  // the folder of the list's relative paths; empty: found
  EnqueueOptions enqueue;
};

// The folder that the relative paths of a list count from: of the list's own folder and those above
// it, the nearest that holds the first of them; the list's own folder where none does. RELION's and
// cryoSPARC's job folders lie in the project that their paths are relative to.
std::string project_folder(const std::string& list,
                           const std::vector<ingest::ListedMicrograph>& micrographs);

// Throws Failure for a list that cannot be read.
Exit import_list(const Context& context, const ImportOptions& options);

}  // namespace scheduler::cli
