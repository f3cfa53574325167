#include "engine/comm/sockets.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/error.h"

namespace engine::comm {
namespace {

constexpr int kBacklog = 1024;

void set_option(int socket, int level, int name, int value) {
  // A socket that lacks an option works without it, too.
  (void)::setsockopt(socket, level, name, &value, sizeof value);
}

bool bind_and_listen(int socket, const sockaddr* address, socklen_t length) {
  // Else a port stays taken for a minute after the attempt before this one.
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  return ::bind(socket, address, length) == 0 && ::listen(socket, kBacklog) == 0;
}

// The address of one end of a socket; of no family where it has none.
SocketAddress end_of(int socket, int (*name)(int, sockaddr*, socklen_t*)) {
  SocketAddress end{.length = sizeof end.storage};
  name(socket, reinterpret_cast<sockaddr*>(&end.storage), &end.length);
  return end;
}

// Empty for an address of no family, or of one that is not TCP's (an interface's own).
std::string numeric_address(const sockaddr& address) {
  char text[NI_MAXHOST] = "";
  const socklen_t length =
      address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  (void)::getnameinfo(&address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  const std::string name = text;
  const bool mapped = name.starts_with("::ffff:") && name.find('.') != std::string::npos;
  return mapped ? name.substr(name.rfind(':') + 1) : name;
}

}  // namespace

std::string errno_message(int error) { return std::generic_category().message(error); }

int poll_timeout(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(std::min<Deadline::duration>(
      deadline - std::chrono::steady_clock::now(), std::chrono::hours(1)));
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

bool wait_for_events(int socket, short events, Deadline deadline) {
  for (;;) {
    pollfd one{socket, events, 0};
    const int ready = ::poll(&one, 1, poll_timeout(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) base::throw_errno("poll");
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
}

void prepare_connection(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0) base::throw_errno("fcntl");
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 6);
}

std::string local_address_of(int socket) {
  const SocketAddress here = end_of(socket, ::getsockname);
  return numeric_address(reinterpret_cast<const sockaddr&>(here.storage));
}

std::vector<std::string> own_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    const sockaddr* address = one->ifa_addr;
    if (address == nullptr || (one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) != IFF_UP) continue;
    const std::string text = numeric_address(*address);
    // What a link-local address means depends on the interface of the host that reads it.
    if (!text.empty() && text.find('%') == std::string::npos) addresses.push_back(text);
  }
  return addresses;
}

std::string own_host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

Descriptor listen_at(int port) {
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_any;
  six.sin6_port = htons(static_cast<uint16_t>(port));
  Descriptor both(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (both) {
    set_option(both.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (bind_and_listen(both.get(), reinterpret_cast<sockaddr*>(&six), sizeof six)) return both;
    if (errno != EADDRNOTAVAIL) return Descriptor();
  }
  // A host without IPv6.
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_addr.s_addr = htonl(INADDR_ANY);
  four.sin_port = six.sin6_port;
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (!socket || !bind_and_listen(socket.get(), reinterpret_cast<sockaddr*>(&four), sizeof four)) {
    return Descriptor();
  }
  return socket;
}

int port_of(int socket) {
  const sockaddr_storage address = end_of(socket, ::getsockname).storage;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::vector<SocketAddress> resolve(const std::string& host, int port, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    why = error == EAI_SYSTEM ? errno_message(errno) : ::gai_strerror(error);
    return {};
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    address.length = one->ai_addrlen;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
  }
  ::freeaddrinfo(list);
  return addresses;
}

Descriptor begin_to_connect(const SocketAddress& address, std::string& why) {
  Descriptor socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
  if (!socket || (::connect(socket.get(), to, address.length) != 0 && errno != EINPROGRESS &&
                  errno != EINTR)) {
    why = errno_message(errno);
    return Descriptor();
  }
  return socket;
}

std::string connection_error(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return errno_message(error);
  // A connection to a free port of this host may by chance be one with itself.
  const SocketAddress here = end_of(socket, ::getsockname), there = end_of(socket, ::getpeername);
  const bool with_itself =
      here.length == there.length && std::memcmp(&here.storage, &there.storage, here.length) == 0;
  return with_itself ? errno_message(ECONNREFUSED) : "";
}

}  // namespace engine::comm
