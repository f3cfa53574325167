// TCP sockets that never block longer than they are told, IPv4 and IPv6 alike.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "engine/comm/message.h"

struct sockaddr_storage;

namespace engine::comm {

using base::Descriptor;

std::string errno_message(int error);

// For poll(2): rounded up, so that a wait ends after the deadline and not just before it.
int poll_timeout(Deadline deadline);

// Waits for `events`. False at the deadline. What is wrong with the socket counts as an event.
bool wait_for_events(int socket, short events, Deadline deadline);

// Not blocking, small messages leave at once, and a host that is gone shows in the end.
void prepare_connection(int socket);

// "10.0.0.7", "fd00::7"; an IPv4 address that came to an IPv6 socket as what it is.
std::string numeric_address(const sockaddr_storage& address);
std::string local_address_of(int socket);
std::string remote_address_of(int socket);

// Of this host: those that others may reach it by, none of the loopback.
std::vector<std::string> own_addresses();
std::string own_host_name();

// Listens at `port` (0: any free one) of all addresses. None, with errno set, where it cannot.
Descriptor listen_at(int port);
int port_of(int socket);

struct Connected {
  Descriptor socket;  // none: `why` says why
  std::string why;
};

// Begins with each address that `host`, a name or a number, stands for; none is open yet before
// POLLOUT.
std::vector<Connected> begin_to_connect(const std::string& host, int port);
// Then: what went wrong with it, or nothing.
std::string connection_error(int socket);

// Tries them one after the other.
Connected connect_to(const std::string& host, int port, Deadline deadline);

}  // namespace engine::comm
