// Implements notify.h in a build without libsystemd.
#include "scheduler/process/notify.h"

namespace scheduler {

bool is_notified() { return false; }
void notify(const std::string&) {}
void notify_reloading() {}

}  // namespace scheduler
