// Why a command was refused, one type for each status of the API and exit code of `margay`. The
// messages are for the user who gave the command.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace scheduler {

class CommandError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class NotFound : public CommandError {
 public:
  using CommandError::CommandError;
};

class NotPermitted : public CommandError {
 public:
  using CommandError::CommandError;
};

class Invalid : public CommandError {
 public:
  using CommandError::CommandError;
};

// A cluster option that is invalid or not allowed for this item.
class BadOption : public CommandError {
 public:
  using CommandError::CommandError;
};

class Conflict : public CommandError {
 public:
  Conflict(const std::string& message, int64_t item_id)
      : CommandError(message), item_id_(item_id) {}
  // The item that is in the way; 0 when there is none.
  int64_t item_id() const { return item_id_; }

 private:
  int64_t item_id_;
};

}  // namespace scheduler
