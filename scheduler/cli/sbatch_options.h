// Options for an item's Slurm job, under sbatch's own names.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace scheduler::cli {

// Adds --time, --partition and the others, and --sbatch NAME=VALUE for the rest. Values go into
// `options` as written; the daemon checks them.
void add_sbatch_options(CLI::App& command, std::map<std::string, std::string>& options);

}  // namespace scheduler::cli
