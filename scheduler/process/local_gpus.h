// The GPUs of the machine on which margayd runs, for the searches of the local cluster.
#pragma once

#include "scheduler/config/config.h"

namespace scheduler {

// Looks for them where searches run on this machine, and leaves config.local.found and found_note.
// None are used by an engine that was built without CUDA. Throws ConfigError.
void find_local_gpus(Config& config);

}  // namespace scheduler
