#include "scheduler/process/reader_thread.h"

#include <spdlog/spdlog.h>

#include <exception>

namespace scheduler {

ReaderThread::ReaderThread(Daemon& daemon, TickSignal& tick_signal, std::chrono::milliseconds pause)
    : daemon_(daemon), tick_signal_(tick_signal), pause_(pause), thread_([this] { run(); }) {}

ReaderThread::~ReaderThread() {
  stop();
  thread_.join();
}

void ReaderThread::stop() {
  signal_.stop();
  daemon_.stop_reading();
}

void ReaderThread::run() {
  do {
    while (read()) tick_signal_.wake();
  } while (signal_.wait(pause_));
}

// What keeps it from reading, such as a full disk, keeps the tick from working, too.
bool ReaderThread::read() {
  try {
    return daemon_.read_micrographs();
  } catch (const std::exception& error) {
    if (error.what() != problem_) spdlog::error("micrographs are not read: {}", error.what());
    problem_ = error.what();
    return false;
  }
}

}  // namespace scheduler
