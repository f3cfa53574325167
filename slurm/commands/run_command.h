// Runs one program to its end: no shell, output kept, a time limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace slurm {

struct Command {
  std::string program;  // a path, or a name that is looked for in PATH
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};  // all of it
  std::chrono::milliseconds timeout{25'000};
  std::chrono::milliseconds kill_wait{2'000};  // between SIGTERM and SIGKILL when it takes too long
  size_t most_output = 256U << 20U;            // bytes kept of each stream; the rest is dropped
};

struct CommandResult {
  enum class Ending {
    kNotStarted,  // proven to have done nothing
    kEnded,       // by itself: exit_code or signal
    kTimedOut,    // killed, with its process group; what it did is not known
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

// In /, with an empty standard input, in a process group of its own. Blocks for timeout + kill_wait
// at most. Throws std::system_error when there is no pipe or no process to watch.
CommandResult run_command(const Command& command);

}  // namespace slurm
