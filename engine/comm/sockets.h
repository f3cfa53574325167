// TCP over both IPv4 and IPv6, on non-blocking sockets. Errors that a peer can cause are results; a
// failing poll(2) or fcntl(2) throws std::system_error.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "engine/comm/message.h"

namespace engine::comm {

using base::Descriptor;

std::string errno_message(int error);

// Returns the milliseconds for poll(2), rounded up, so that a wait does not end just before the
// deadline.
int poll_timeout(Deadline deadline);

// Waits for `events`, or for an error of the socket. Returns false at the deadline.
bool wait_for_events(int socket, short events, Deadline deadline);

// Makes the socket non-blocking, turns off the delay of small messages (TCP_NODELAY), and lets the
// kernel probe for a host that is gone.
void prepare_connection(int socket);

// Returns for example "10.0.0.7" or "fd00::7"; an IPv4 address on an IPv6 socket is written as
// IPv4.
std::string local_address_of(int socket);

// Returns this host's numeric addresses, without loopback and link-local ones.
std::vector<std::string> own_addresses();
std::string own_host_name();

// Listens at `port` (0: any free one) of all addresses. Returns an empty descriptor, with errno
// set, where that fails.
Descriptor listen_at(int port);
int port_of(int socket);

// The IPv4 or IPv6 address of a socket.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Returns all addresses of `host`, a name or a numeric address. Where there are none, `why` says
// why.
std::vector<SocketAddress> resolve(const std::string& host, int port, std::string& why);
// Starts a connection: it is made or has failed when the socket is ready for POLLOUT. Returns an
// empty descriptor where it cannot be started; then `why` says why.
Descriptor begin_to_connect(const SocketAddress& address, std::string& why);
// Returns, after POLLOUT, why the socket is not connected; empty where it is.
std::string connection_error(int socket);

}  // namespace engine::comm
