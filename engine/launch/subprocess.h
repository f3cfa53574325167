// A program that is started, waited for, and heard only when it fails.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace engine {

struct ProcessResult {
  int code = 0;          // 128 and the signal's number when a signal ended it
  std::string messages;  // what it wrote, or the end of it
};

// `stop` goes on as SIGTERM, and as SIGKILL after `patience`. The program gets SIGTERM, too, when
// the thread that calls this ends, however it does. Throws std::system_error when nothing can be
// started; 127 and a message where there is no such program.
ProcessResult run_subprocess(std::vector<std::string> command,
                             std::chrono::milliseconds grace_period, const std::atomic<bool>& stop);

}  // namespace engine
