#include "scheduler/http/listener.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace scheduler::api {
namespace {

Descriptor listen_without_waiting(const std::string& path, const std::string& group) {
  Descriptor socket = listen_at(path, group);
  if (::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0) base::throw_errno("socket " + path);
  return socket;
}

}  // namespace

Listener::Listener(std::string path, std::string group)
    : path_(std::move(path)),
      group_(std::move(group)),
      socket_(listen_without_waiting(path_, group_)) {
  file_ = file_at_path();
}

std::optional<Listener::FileId> Listener::file_at_path() const {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

// While the socket is bound, the kernel keeps its file's number from being given to another.
bool Listener::is_in_place() const { return file_ && file_at_path() == file_; }

void Listener::restore() {
  socket_ = listen_without_waiting(path_, group_);
  file_ = file_at_path();
}

void Listener::remove_file() const {
  if (is_in_place()) ::unlink(path_.c_str());
}

}  // namespace scheduler::api
