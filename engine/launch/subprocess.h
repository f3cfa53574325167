// Runs one program to its end and returns its exit code and output.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

namespace engine {

struct ProcessResult {
  int code = 0;          // 128 and the signal's number when a signal ended it
  std::string messages;  // what it wrote, or the last 64 KiB of it
};

// `stop` is forwarded as SIGTERM, and as SIGKILL after `grace_period`. The program gets SIGTERM as
// well when the thread that calls this ends. Throws std::system_error when nothing can
// be started; 127 and a message where there is no such program.
ProcessResult run_subprocess(std::vector<std::string> command,
                             std::chrono::milliseconds grace_period, const std::atomic<bool>& stop);

}  // namespace engine
