// Implements journal_sink() of log.h in a build without libsystemd.
#include "scheduler/process/log.h"

namespace scheduler {

spdlog::sink_ptr journal_sink() { return nullptr; }

}  // namespace scheduler
