// Starts a program by posix_spawn. The new process blocks and ignores no signal, even where this
// process does.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace base {

// Returns pointers into `texts` and a null behind them, as exec takes them.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

class Spawn {
 public:
  // `flags`: POSIX_SPAWN_SETSID, or POSIX_SPAWN_SETPGROUP for a process group of its own.
  explicit Spawn(short flags = 0);
  ~Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // The next four take effect in the new process, in the order of the calls.
  void open(int descriptor, const std::string& path, int flags, mode_t mode = 0);
  void duplicate(int from, int to);
  void close_from(int descriptor);
  void enter(const std::string& folder);

  // Starts `command`, whose first word is a path or a name that is looked for in PATH. Sets `child`
  // and returns 0, or returns an errno where the start failed.
  int run(std::vector<std::string> command, pid_t& child) const;
  // Starts `command` with this environment, entries of "NAME=value", in place of our own.
  int run(std::vector<std::string> command, std::vector<std::string> environment,
          pid_t& child) const;

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace base
