// TCP over IPv4 and IPv6 alike, on sockets that never block. Deadlines are of steady_clock. Errors
// that a peer can cause are results; a failing poll(2) or fcntl(2) throws std::system_error.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "engine/comm/message.h"

namespace engine::comm {

using base::Descriptor;

std::string errno_message(int error);

// For poll(2): rounded up, so that a wait ends after the deadline and not just before it.
int poll_timeout(Deadline deadline);

// Waits for `events`, or for an error of the socket. False at the deadline.
bool wait_for_events(int socket, short events, Deadline deadline);

// Makes the socket non-blocking, sends small messages at once, and has the kernel probe for a host
// that is gone.
void prepare_connection(int socket);

// "10.0.0.7", "fd00::7"; an IPv4 address on an IPv6 socket is written as IPv4.
std::string local_address_of(int socket);

// This host's addresses, without the loopback's.
std::vector<std::string> own_addresses();
std::string own_host_name();

// Listens at `port` (0: any free one) of all addresses. None, with errno set, where it cannot.
Descriptor listen_at(int port);
int port_of(int socket);

// The address of a socket, of either family.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// All addresses that `host`, a name or a number, stands for. Where there are none `why` says why.
std::vector<SocketAddress> resolve(const std::string& host, int port, std::string& why);
// The socket is connected, or has failed to, when it is ready for POLLOUT. None where it cannot
// even begin; then `why` says why.
Descriptor begin_to_connect(const SocketAddress& address, std::string& why);
// After POLLOUT: why the socket is not connected; empty where it is.
std::string connection_error(int socket);

}  // namespace engine::comm
