// The exceptions of the engine, and the exit code that each becomes.
#pragma once

#include <stdexcept>
#include <string>

namespace engine {

enum class ExitCode {
  kDone = 0,
  kUsage = 2,
  kBadInput = 64,      // configuration or file
  kDeviceFault = 70,   // a device that fails, or a lost rank
  kDeviceMemory = 71,  // out of memory after shrinking the batch
  kStopped = 85,       // stopped on request, checkpoint written
};

// The message names the object (file, field) and what the user can do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

}  // namespace engine
