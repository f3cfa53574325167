#include "scheduler/process/keeper_thread.h"

#include <spdlog/spdlog.h>

#include <exception>

namespace scheduler {

KeeperThread::KeeperThread(Housekeeper& housekeeper, std::chrono::milliseconds interval)
    : housekeeper_(housekeeper), interval_(interval), thread_([this] { run(); }) {}

KeeperThread::~KeeperThread() {
  stop();
  thread_.join();
}

void KeeperThread::stop() {
  signal_.stop();
  housekeeper_.stop();
}

// It pauses after each step, whatever is left: others use the same disks.
void KeeperThread::run() {
  do {
    keep();
  } while (signal_.wait(interval_));
}

// What keeps it from working, such as a full disk, keeps the tick from working, too.
void KeeperThread::keep() {
  try {
    housekeeper_.step();
  } catch (const std::exception& error) {
    if (error.what() != problem_) spdlog::error("housekeeping: {}", error.what());
    problem_ = error.what();
  }
}

}  // namespace scheduler
