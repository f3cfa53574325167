#include "scheduler/process/reader_thread.h"

#include <spdlog/spdlog.h>

#include <exception>

namespace scheduler {
namespace {

using namespace std::chrono_literals;

// Many files are enqueued by requests that follow each other at once: their micrographs are read
// when nothing has been added for this long, so that the reading takes no time from the answers,
// and not later than this.
constexpr std::chrono::milliseconds kQuiet = 50ms;
constexpr std::chrono::milliseconds kLatest = 2s;

}  // namespace

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
  } while (signal_.wait(pause_) && signal_.settle(kQuiet, kLatest));
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
