// margay import
#pragma once

#include <string>
#include <vector>

#include "scheduler/cli/items/enqueue.h"

namespace scheduler::cli {

struct ImportOptions {
  std::string list;     // RELION's STAR file or cryoSPARC's .cs
  std::string project;  // folder to which the list's paths are relative; empty: it is searched for
  EnqueueOptions enqueue;
};

// The folder to which the list's paths are relative: the nearest, from the list's own folder
// upwards, that contains the first of them; the list's own folder if none does. RELION's and
// cryoSPARC's job folders lie in the project folder to which their paths are relative.
std::string project_folder(const std::string& list,
                           const std::vector<ingest::ListedMicrograph>& micrographs);

// Enqueues the list's micrographs. Throws Failure for a list that cannot be read.
Exit import_list(const Context& context, const ImportOptions& options);

}  // namespace scheduler::cli
