// One program run to its end: arguments as they are, no shell, output kept, a time limit.
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
    kNotStarted,  // it did nothing at all
    kEnded,       // by itself: exit_code or signal
    kTimedOut,    // killed, with every process of its group; what it did is not known
  };
  Ending ending = Ending::kNotStarted;
  int exit_code = -1;
  int signal = 0;
  std::string output{};  // standard output
  std::string error{};   // standard error
  bool cut = false;      // there was more output than most_output
  std::string why{};     // one clause when it did not end with 0; its own words not included

  bool ok() const { return ending == Ending::kEnded && exit_code == 0 && !cut; }
};

// Runs from / with an empty standard input, in a process group of its own.
CommandResult run_command(const Command& command);

}  // namespace slurm
