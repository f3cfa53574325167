// Reads the site's YAML into Config and checks it.
#pragma once

#include <string>
#include <vector>

#include "scheduler/config/config.h"
#include "slurm/machine_gpus.h"

namespace scheduler {

// Both throw ConfigError; `name` stands for the file in its message.
Config read_config(const std::string& path);
Config parse_config(const std::string& yaml, const std::string& name);

// Makes paths absolute, fills in defaults that depend on others, and checks ranges; throws
// ConfigError. `program_folder` is margayd's own.
void complete_config(Config& config, const std::string& program_folder);

// Chooses the GPUs for searches from the machine's. Throws GpusMissing when there are too few or a
// named one is missing, and ConfigError when they do not fit gpus_per_search.
void set_local_gpus(LocalOptions& local, const slurm::MachineGpus& machine);

// Makes the missing folders of a complete configuration, and returns a sentence for each whose mode
// could not be set. Throws ConfigError.
std::vector<std::string> make_folders(const Config& config);

}  // namespace scheduler
