// Why a command was refused, one type for each status of the API and exit code of `margay`. The
// messages are for the user who gave the command.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace scheduler {

enum class CommandFault {
  kNotFound,
  kNotPermitted,
  kInvalid,
  kBadOption,  // a cluster option that is invalid or not allowed for this item
  kConflict,
  kUnavailable,  // something that the command needs does not answer now
};

class CommandError : public std::runtime_error {
 public:
  CommandError(CommandFault fault, const std::string& message, int64_t item_id)
      : std::runtime_error(message), fault_(fault), item_id_(item_id) {}
  CommandFault fault() const { return fault_; }
  // The conflicting item; 0 when there is none.
  int64_t item_id() const { return item_id_; }

 private:
  CommandFault fault_;
  int64_t item_id_;
};

template <CommandFault kFault>
class CommandErrorOf : public CommandError {
 public:
  explicit CommandErrorOf(const std::string& message, int64_t item_id = 0)
      : CommandError(kFault, message, item_id) {}
};
using NotFound = CommandErrorOf<CommandFault::kNotFound>;
using NotPermitted = CommandErrorOf<CommandFault::kNotPermitted>;
using Invalid = CommandErrorOf<CommandFault::kInvalid>;
using BadOption = CommandErrorOf<CommandFault::kBadOption>;
using Conflict = CommandErrorOf<CommandFault::kConflict>;
using Unavailable = CommandErrorOf<CommandFault::kUnavailable>;

}  // namespace scheduler
