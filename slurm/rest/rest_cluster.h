// A real Slurm through slurmrestd.
#pragma once

#include <memory>

#include "slurm/cluster.h"
#include "slurm/cluster_options.h"

namespace slurm {

// A cluster that is called from one thread. Each call makes a few requests, each of which may take
// as long as options.http.timeout. Making it sends nothing: the API's version is asked for at the
// first use. Throws std::runtime_error for options that can never work, such as an unsupported kind
// of url.
std::unique_ptr<Cluster> make_rest_cluster(RestClusterOptions options);

}  // namespace slurm
