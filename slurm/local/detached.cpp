#include "slurm/local/detached.h"

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/spawn.h"

namespace slurm {

int run_detached(std::vector<std::string> command, const std::filesystem::path& log) {
  // None of the daemon's files (its database's lock, its socket) and none of its signal settings.
  base::Spawn spawn(POSIX_SPAWN_SETSID);
  // First: a daemon killed at this instant must not leave its database locked by us.
  spawn.close_from(STDERR_FILENO + 1);
  spawn.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  spawn.open(STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0644);
  spawn.duplicate(STDOUT_FILENO, STDERR_FILENO);
  spawn.enter("/");
  pid_t child = 0;
  const int error = spawn.run(std::move(command), {"PATH=/usr/local/bin:/usr/bin:/bin"}, child);
  if (error != 0) return error;
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

}  // namespace slurm
