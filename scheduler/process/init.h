// margayd --init: a configuration to begin with.
#pragma once

#include <string>

namespace scheduler {

// Writes `file`, which must not exist, for the Slurm whose commands answer, else for this machine,
// and says on standard output what it found. Throws ConfigError.
void write_site_file(const std::string& file);

}  // namespace scheduler
