// margayd --init: writes an initial configuration.
#pragma once

#include <string>

namespace scheduler {

// Writes `file`, which must not exist, for Slurm if its commands answer, else for this machine, and
// prints on standard output what it found. Throws ConfigError.
void write_site_file(const std::string& file);

}  // namespace scheduler
