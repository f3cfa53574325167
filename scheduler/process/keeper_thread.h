// Keeps the house in the background, a little in each interval.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "scheduler/daemon/housekeeper.h"
#include "scheduler/process/tick_signal.h"

namespace scheduler {

class KeeperThread {
 public:
  KeeperThread(Housekeeper& housekeeper, std::chrono::milliseconds interval);
  // Waits for the thread.
  ~KeeperThread();
  KeeperThread(const KeeperThread&) = delete;
  KeeperThread& operator=(const KeeperThread&) = delete;

  // There may be something to do. By any thread.
  void wake() { signal_.wake(); }
  // Lets it end soon, without waiting for it. By any thread.
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
