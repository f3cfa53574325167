// The GPUs of the machine on which margayd runs, for the searches of the local cluster.
#pragma once

#include "scheduler/config/config.h"

namespace scheduler {

// If searches run on this machine, looks for its GPUs and sets config.local.found and found_note.
// An engine that was built without CUDA uses none. Throws ConfigError.
void find_local_gpus(Config& config);

}  // namespace scheduler
