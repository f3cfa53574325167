// The socket that clients connect to, and its file, which others may remove: tmpfiles, an
// administrator who tidies up.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "scheduler/http/unix_socket.h"

namespace scheduler::api {

class Listener {
 public:
  // Listens as listen_at().
  Listener(std::string path, std::string group);
  // Removes the file unless another process has replaced it.
  ~Listener() { remove_file(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Does not block.
  int socket() const { return socket_.get(); }
  const std::string& path() const { return path_; }
  // Whether clients that connect to the path arrive here.
  bool is_in_place() const;
  // Listens at the path again. Throws std::runtime_error when another process has taken it, or when
  // it cannot be made; then the old socket stays.
  void restore();
  void remove_file() const;

 private:
  using FileId = std::pair<dev_t, ino_t>;
  std::optional<FileId> file_at_path() const;

  std::string path_;
  std::string group_;
  Descriptor socket_;
  std::optional<FileId> file_;
};

}  // namespace scheduler::api
