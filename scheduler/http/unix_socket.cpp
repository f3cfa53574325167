#include "scheduler/http/unix_socket.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "base/group_lookup.h"

namespace scheduler::api {
namespace {

// A client that does not wait fails to connect while so many have not been accepted.
constexpr int kBacklog = 1024;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw std::runtime_error("socket " + path + ": the path is " + std::to_string(path.size()) +
                             " bytes long and a socket's may have " +
                             std::to_string(sizeof(address.sun_path) - 1) +
                             "; choose a shorter one");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Descriptor make_socket(int flags = 0) {
  Descriptor descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!descriptor) throw std::system_error(errno, std::generic_category(), "socket");
  return descriptor;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what, int error) {
  throw std::runtime_error("socket " + path + ": " + what + ": " + std::strerror(error));
}

bool answers(const std::string& path, const sockaddr_un& address) {
  const Descriptor probe = make_socket(SOCK_NONBLOCK);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return true;
  }
  // EAGAIN: so many connections wait there already that this one would, too.
  if (errno == EAGAIN) return true;
  if (errno == ECONNREFUSED) return false;
  refuse(path, "cannot find out whether another daemon listens here", errno);
}

void remove_leftover(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) {
    throw std::runtime_error("socket " + path + ": the path exists and is not a socket");
  }
  if (answers(path, address)) {
    throw std::runtime_error("socket " + path + ": another daemon listens here");
  }
  if (::unlink(path.c_str()) != 0) refuse(path, "cannot remove the leftover socket", errno);
}

void set_access(const std::string& path, const std::string& group) {
  if (!group.empty()) {
    const base::GroupLookup found = base::look_up_group(group);
    if (!found.number) throw std::runtime_error("socket_group: " + base::problem_of(found, group));
    if (::chown(path.c_str(), static_cast<uid_t>(-1), *found.number) != 0) {
      refuse(path, "cannot give it to group '" + group + "'", errno);
    }
  }
  if (::chmod(path.c_str(), 0660) != 0) refuse(path, "cannot set mode 0660", errno);
}

}  // namespace

Descriptor listen_at(const std::string& path, const std::string& group) {
  const sockaddr_un address = address_of(path);
  remove_leftover(path, address);
  Descriptor listener = make_socket();
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    refuse(path, "cannot listen here", errno);
  }
  set_access(path, group);
  if (::listen(listener.get(), kBacklog) != 0) refuse(path, "cannot listen here", errno);
  return listener;
}

Descriptor connect_to(const std::string& path, std::chrono::milliseconds timeout) {
  const sockaddr_un address = address_of(path);
  Descriptor descriptor = make_socket();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(timeout - seconds);
  const timeval wait{.tv_sec = seconds.count(), .tv_usec = rest.count()};
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  ::setsockopt(descriptor.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
  if (::connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
      0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  return descriptor;
}

std::optional<Peer> peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  return Peer{.uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
}

void send_with_files(int socket, std::string_view bytes, const std::vector<int>& files) {
  if (files.size() > kMostFilesPassed) throw std::invalid_argument("too many files in one message");
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFilesPassed * sizeof(int))> control{};
  bool files_sent = files.empty();
  while (!bytes.empty()) {
    iovec part{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files_sent) {
      const size_t size = files.size() * sizeof(int);
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(size);
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(size);
      std::memcpy(CMSG_DATA(header), files.data(), size);
    }
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw std::system_error(errno, std::generic_category(), "send");
    files_sent = true;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 65536));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Received receive_with_files(int socket, char* buffer, size_t size, std::vector<Descriptor>& files) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFilesPassed * sizeof(int))> control{};
  iovec part{.iov_base = buffer, .iov_len = size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Received received;
  do {
    received.bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (received.bytes < 0 && errno == EINTR);
  if (received.bytes < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      files.emplace_back(fd);
    }
  }
  received.files_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

}  // namespace scheduler::api
