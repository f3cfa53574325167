// Runs one program to its end, without a shell: keeps its output, and limits its time and memory.
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
  std::map<std::string, std::string> environment{};  // the whole one; ours is not inherited
  std::chrono::milliseconds timeout{25'000};
  std::chrono::milliseconds kill_wait{2'000};  // from SIGTERM to SIGKILL, once a limit has passed
  size_t most_output = 256U << 20U;            // bytes kept of each stream; the rest is dropped
  int input = -1;                              // becomes its standard input; -1: an empty one
  uint64_t most_memory = 0;                    // resident bytes of the program itself; 0: no limit
  // Called about 20 times a second while the program runs; returning false ends it. May be empty.
  std::function<bool()> look{};
};

struct CommandResult {
  enum class Ending {
    kNotStarted,  // the program certainly did nothing
    kEnded,       // it ended by itself: see exit_code or signal
    kTimedOut,    // it passed a limit and was killed with its process group; what it did is not
                  // known, and a process that waits in the kernel may still exist
  };
  Ending ending = Ending::kNotStarted;
  int exit_code = -1;
  int signal = 0;
  std::string output{};  // standard output
  std::string error{};   // standard error
  bool cut = false;      // there was more output than most_output
  std::string why{};     // one clause without the program's own messages; empty when ok()

  bool ok() const { return ending == Ending::kEnded && exit_code == 0 && !cut; }
};

// Runs the program in the folder /, in its own process group. Blocks for at most timeout +
// kill_wait, and for 2 s more where the kernel does not let the program be killed. Throws
// std::system_error where it cannot make a pipe or watch the process.
CommandResult run_command(const Command& command);

}  // namespace base
