// Why a command was refused, as types: the API gives each its status and its exit code.
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

// An option of the cluster that this item may not have.
class BadOption : public CommandError {
 public:
  using CommandError::CommandError;
};

class Conflict : public CommandError {
 public:
  Conflict(const std::string& message, int64_t item_id)
      : CommandError(message), item_id_(item_id) {}
  // The item in the way, 0 = none.
  int64_t item_id() const { return item_id_; }

 private:
  int64_t item_id_;
};

}  // namespace scheduler
