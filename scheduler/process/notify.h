// Notifies systemd (sd_notify(3)); does nothing if systemd did not start margayd, or this build has
// no libsystemd.
#pragma once

#include <string>

namespace scheduler {

// True when systemd listens, so that it is worth making a text.
bool is_notified();
// Sends lines such as "READY=1". A message that cannot be sent is dropped: systemd then acts as if
// margayd hung.
void notify(const std::string& lines);
// Notifies that margayd reads its configuration again; READY=1 must follow.
void notify_reloading();

}  // namespace scheduler
