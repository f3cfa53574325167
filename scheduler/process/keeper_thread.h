// Runs the Housekeeper in the background, a little in each interval.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "scheduler/process/tick_signal.h"
#include "scheduler/results/housekeeper.h"

namespace scheduler {

class KeeperThread {
 public:
  KeeperThread(Housekeeper& housekeeper, std::chrono::milliseconds interval);
  // Waits for the thread.
  ~KeeperThread();
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

  // Call it when there may be something to do. For any thread.
  void wake() { signal_.wake(); }
  // Makes the thread end soon, without waiting for it. For any thread.
  void stop();

 private:
  void run();
  void keep();

  Housekeeper& housekeeper_;
  const std::chrono::milliseconds interval_;
  TickSignal signal_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace scheduler
