// A real Slurm through its commands, where a site has no slurmrestd: sbatch, squeue, sacct,
// scancel, scontrol, sinfo.
#pragma once

#include <memory>

#include "slurm/cluster.h"
#include "slurm/cluster_options.h"

namespace slurm {

// A cluster that is called from one thread. Each call runs a few commands, each of which may take
// as long as options.timeout. Makes the scratch folder, and removes from it what a killed daemon
// left; throws std::filesystem::filesystem_error when it cannot.
std::unique_ptr<Cluster> make_cli_cluster(CliClusterOptions options);

}  // namespace slurm
