// The site's YAML into the struct, checked.
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

// Chooses from the machine's GPUs those that searches get. Throws GpusMissing where there are not
// as many, or not these, and ConfigError where they do not fit gpus_per_search.
void set_local_gpus(LocalOptions& local, const slurm::MachineGpus& machine);

// Makes the folders of a complete configuration where they are missing, and returns a sentence for
// each whose mode could not be set; throws ConfigError.
std::vector<std::string> make_folders(const Config& config);

}  // namespace scheduler
