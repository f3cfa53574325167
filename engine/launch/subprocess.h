// Runs one program to its end and returns its exit code and output.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace engine {

struct ProcessResult {
  int code = 0;          // 128 and the signal's number when a signal ended it
  std::string messages;  // its stdout and stderr, or whole lines from their last 64 KiB
};

// Once `stop` is true the program gets SIGTERM, and SIGKILL after `grace_period`. It also gets
// SIGTERM when the calling thread ends. Throws std::system_error when no process can be started; a
// program that cannot be run gives code 127 and a message.
ProcessResult run_subprocess(std::vector<std::string> command,
                             std::chrono::milliseconds grace_period, const std::atomic<bool>& stop);

}  // namespace engine
