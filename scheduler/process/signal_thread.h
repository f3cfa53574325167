// The signals that margayd handles: SIGTERM and SIGINT end it, SIGHUP makes it read its
// configuration again.
#pragma once

#include <functional>
#include <thread>

#include "scheduler/process/tick_signal.h"

namespace scheduler {

// Call it before any thread is started: from here on only a SignalThread gets these signals.
void block_signals();

class SignalThread {
 public:
  // Without `reloads`, SIGHUP also ends margayd: there is no file to read, and the terminal is
  // gone. This thread calls `abandon` before the process ends while a tick has not.
  SignalThread(TickSignal& tick_signal, bool reloads, std::function<void()> abandon);
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  void run();

  TickSignal& tick_signal_;
  const bool reloads_;
  const std::function<void()> abandon_;
  std::thread thread_;
};

}  // namespace scheduler
