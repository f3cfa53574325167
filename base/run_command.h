// Runs one program to its end: no shell, output kept, limits of time and memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace base {

struct Command {
  std::string program;  // a path, or a name that is looked for in PATH
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};  // all of it
  std::chrono::milliseconds timeout{25'000};
  std::chrono::milliseconds kill_wait{2'000};  // between SIGTERM and SIGKILL when it takes too long
  size_t most_output = 256U << 20U;            // bytes kept of each stream; the rest is dropped
  int input = -1;                              // becomes its standard input; -1: an empty one
  uint64_t most_memory = 0;                    // resident bytes of the program itself; 0: any
  // Called some times a second while it runs; false: it is to end. May be empty.
  std::function<bool()> look{};
};

struct CommandResult {
  enum class Ending {
    kNotStarted,  // proven to have done nothing
    kEnded,       // by itself: exit_code or signal
    kTimedOut,    // killed, with its process group, for a limit; what it did is not known, and a
                  // process that waits in the kernel may be there still
  };
  Ending ending = Ending::kNotStarted;
  int exit_code = -1;
  int signal = 0;
  std::string output{};  // standard output
  std::string error{};   // standard error
  bool cut = false;      // there was more output than most_output
  std::string why{};     // one clause unless ok(); without the program's own messages

  bool ok() const { return ending == Ending::kEnded && exit_code == 0 && !cut; }
};

// In /, in a process group of its own. Blocks for timeout + kill_wait at most, and for 2 s more
// where the kernel lets the program not be killed. Throws std::system_error when there is no pipe
// or no process to watch.
CommandResult run_command(const Command& command);

}  // namespace base
