// Turns SIGTERM, SIGUSR1 and SIGINT into a flag, which a thread of its own sets. It must be made
// before any other thread, so that all threads block these signals. The constructor throws
// std::system_error. A SIGINT after the flag is set ends the process at once.
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
