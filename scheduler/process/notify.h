// What margayd tells systemd (sd_notify(3)): nothing where it was started by somebody else, or
// where this build has no libsystemd.
#pragma once

#include <string>

namespace scheduler {

// True where somebody listens, so that a text for them is worth making.
bool is_notified();
// Lines such as "READY=1". A message that cannot be sent is dropped: systemd then acts as if
// margayd hung.
void notify(const std::string& lines);
// That margayd reads its configuration again; READY=1 must follow.
void notify_reloading();

}  // namespace scheduler
