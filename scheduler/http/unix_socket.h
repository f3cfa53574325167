// Unix sockets: listening, connecting, the peer's credentials, and passed files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace scheduler::api {

using base::Descriptor;

// The peer's process when it connected, from the kernel (SO_PEERCRED).
struct Peer {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
};

// Files in one message; the kernel's limit is 253.
constexpr size_t kMostFilesPassed = 250;

// Binds, sets mode 0660 and the group (when one is named), then listens: nobody connects before the
// mode is right. A socket left over by a dead process is replaced. Throws std::runtime_error.
Descriptor listen_at(const std::string& path, const std::string& group);

// Connects. Throws std::system_error with the reason (ENOENT, ECONNREFUSED, EACCES, ...).
Descriptor connect_to(const std::string& path, std::chrono::milliseconds timeout);

std::optional<Peer> peer_of(int socket);

// Sends all bytes; the files go with the first one. Throws std::system_error.
void send_with_files(int socket, std::string_view bytes, const std::vector<int>& files);

struct Received {
  ssize_t bytes = 0;        // 0: end; negative: see errno
  bool files_lost = false;  // the kernel dropped files for lack of room
};
// Receives bytes and appends passed files to `files`.
Received receive_with_files(int socket, char* buffer, size_t size, std::vector<Descriptor>& files);

// Raises this process's limit of open files, since the files of many requests are open at once.
void allow_many_files();

}  // namespace scheduler::api
