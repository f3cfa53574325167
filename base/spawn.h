// Starts a program by posix_spawn: in it no signal is blocked or ignored, whatever is so here.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace base {

// For exec: pointers into `texts`, and a null behind them.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

class Spawn {
 public:
  // `flags`: POSIX_SPAWN_SETSID, or POSIX_SPAWN_SETPGROUP for a process group of its own.
  explicit Spawn(short flags = 0);
  ~Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // Done in the new process, in the order of the calls.
  void open(int descriptor, const std::string& path, int flags, mode_t mode = 0);
  void duplicate(int from, int to);
  void close_from(int descriptor);
  void enter(const std::string& folder);

  // `command[0]` is a path or is looked for in PATH. Returns 0 or the error number of the start.
  int run(std::vector<std::string> command, pid_t& child) const;
  // The same with this environment, "NAME=value", in place of our own.
  int run(std::vector<std::string> command, std::vector<std::string> environment,
          pid_t& child) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace base
