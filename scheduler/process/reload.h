// What of a changed configuration a running margayd can take. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/config/config.h"

namespace scheduler {

struct Reload {
  Config config;                            // the new one, with the running values of those keys
  std::vector<std::string> need_restart{};  // keys that differ and that only a restart applies
};

Reload reload_of(const Config& running, Config wanted);

// Searches that had GPUs are not given the processor instead because the driver does not answer.
// Throws GpusMissing.
void check_gpus(const LocalOptions& running, const LocalOptions& wanted);

}  // namespace scheduler
