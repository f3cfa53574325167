// Reads micrographs in the background while there are some to read.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "scheduler/daemon/daemon.h"
#include "scheduler/process/tick_signal.h"

namespace scheduler {

class ReaderThread {
 public:
  // Wakes the tick after each reading.
  ReaderThread(Daemon& daemon, TickSignal& tick_signal, std::chrono::milliseconds pause);
  // Waits for the thread.
  ~ReaderThread();
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;

  // Call it when there may be more to read. For any thread.
  void wake() { signal_.wake(); }
  // Makes the thread end soon, without waiting for it. For any thread.
  void stop();

 private:
  void run();
  bool read();

  Daemon& daemon_;
  TickSignal& tick_signal_;
  const std::chrono::milliseconds pause_;
  TickSignal signal_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace scheduler
