// Decides which part of a changed configuration a running margayd can apply. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduler/config/config.h"

namespace scheduler {

struct Reload {
  Config config;  // the new configuration, with the running values of the need_restart keys
  std::vector<std::string> need_restart{};  // changed keys that only a restart applies
};

Reload reload_of(const Config& running, Config wanted);

// Checks that searches which have GPUs do not fall back to the processors because the driver does
// not answer. Throws GpusMissing.
void check_gpus(const LocalOptions& running, const LocalOptions& wanted);

}  // namespace scheduler
