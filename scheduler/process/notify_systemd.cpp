// Implements notify.h by libsystemd.
#include <systemd/sd-daemon.h>

#include <ctime>

#include "base/environment.h"
#include "scheduler/process/notify.h"

namespace scheduler {

bool is_notified() { return !base::variable("NOTIFY_SOCKET").empty(); }

void notify(const std::string& lines) { sd_notify(0, lines.c_str()); }

// Type=notify-reload wants the time in the same message.
void notify_reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long microseconds = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

}  // namespace scheduler
