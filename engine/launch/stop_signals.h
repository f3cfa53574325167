// SIGTERM, SIGUSR1 and SIGINT as a flag, set by a thread of its own. Made before any other thread,
// so that all of them leave these signals to it. Throws std::system_error. A second SIGINT ends the
// process at once.
#pragma once

#include <atomic>
#include <thread>

#include "base/descriptor.h"

namespace engine {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>& requested() const { return requested_; }

 private:
  void watch();

  std::atomic<bool> requested_ = false;
  base::Descriptor signals_;  // signalfd
  base::Descriptor finish_;   // eventfd: the watcher is to end
  std::thread watcher_;
};

}  // namespace engine
