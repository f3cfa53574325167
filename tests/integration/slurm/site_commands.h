// Slurm's commands as the bed's user, whoever runs the test: what slurm.commands names.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/integration/slurm/testbed.h"

namespace tests {

// Into `folder`, which it makes. They run with the little environment that make_cli_cluster() gives
// them.
inline void write_commands(const SlurmBed& bed, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::string settings;
  if (const char* root = std::getenv("MARGAY_SLURM_ROOT")) {
    settings = "export MARGAY_SLURM_ROOT='" + std::string(root) + "' PATH=\"$PATH:/usr/sbin\"\n";
  }
  for (const char* name :
       {"sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo", "sacctmgr"}) {
    std::ofstream(folder / name) << "#!/bin/bash\n"
                                 << settings
                                 << "exec bash '" MARGAY_SOURCE_DIR
                                    "/tests/integration/slurm/testbed' --folder '"
                                 << bed.folder() << "' run --as '" << bed.user() << "' " << name
                                 << " \"$@\"\n";
    ::chmod((folder / name).c_str(), 0755);
  }
}

}  // namespace tests
