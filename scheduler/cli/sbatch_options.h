// What an item asks of Slurm, by sbatch's own option names.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace scheduler::cli {

// Adds --time, --partition and the others, and --sbatch NAME=VALUE for the rest. What is given is
// put into `options` as it was written; the daemon checks it.
void add_sbatch_options(CLI::App& command, std::map<std::string, std::string>& options);

}  // namespace scheduler::cli
