#include "scheduler/process/signal_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

namespace scheduler {
namespace {

constexpr std::chrono::milliseconds kLongestStop{1500};

sigset_t our_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

void block_signals() {
  const sigset_t signals = our_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

SignalThread::SignalThread(TickSignal& tick_signal, bool reloads, std::function<void()> abandon)
    : tick_signal_(tick_signal),
      reloads_(reloads),
      abandon_(std::move(abandon)),
      thread_([this] { run(); }) {}

SignalThread::~SignalThread() {
  tick_signal_.end();
  kill(getpid(), SIGTERM);
  thread_.join();
}

// Every commit is durable and every job independent of us, so that a tick that hangs in the cluster
// may be abandoned.
void SignalThread::run() {
  const sigset_t signals = our_signals();
  int number = 0;
  sigwait(&signals, &number);
  while (number == SIGHUP && reloads_) {
    tick_signal_.reload();
    sigwait(&signals, &number);
  }
  tick_signal_.stop();
  if (tick_signal_.has_ended(kLongestStop)) return;
  abandon_();
  std::_Exit(0);
}

}  // namespace scheduler
