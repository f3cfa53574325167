#include "engine/comm/mesh.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.h"
#include "engine/comm/acceptor.h"
#include "engine/comm/join.h"
#include "engine/comm/rendezvous_file.h"
#include "engine/error.h"
#include "engine/launch/random_id.h"

namespace engine::comm {
namespace {

// What moves for one rank before it is another's turn.
constexpr size_t kTurn = size_t{4} << 20;

bool is_loopback(const std::string& address) {
  return address == "::1" || address.starts_with("127.");
}

// An address by which a rank was reached may be one that its own host alone knows.
std::vector<std::string> likeliest_first(const std::vector<std::string>& reached) {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& addresses, bool loopback) {
    for (const std::string& one : addresses) {
      if (is_loopback(one) == loopback && std::find(all.begin(), all.end(), one) == all.end()) {
        all.push_back(one);
      }
    }
  };
  add(reached, false);
  add(own_addresses(), false);
  add(reached, true);
  return all;
}

std::string invitation_key(const GroupConfig& config, int rank) {
  return config.name + "/mesh/" + std::to_string(rank);
}

}  // namespace

Mesh::Mesh(const GroupConfig& config, Store& store)
    : config_(config), peers_(static_cast<size_t>(config.size)) {
  if (config.size == 1) return;
  const std::string nonce = config.name + "/" + random_id();
  Acceptor acceptor(Rendezvous{}, nonce, config.size);
  const std::string invitation = text_of({.nonce = nonce,
                                          .host = own_host_name(),
                                          .addresses = likeliest_first(config.addresses),
                                          .port = acceptor.port()});
  store.put(invitation_key(config, config.rank), {invitation.begin(), invitation.end()});
  join_lower_ranks(store);
  accept_higher_ranks(acceptor);
}

Mesh::~Mesh() = default;

// Each rank waits only for lower ones, so that no two wait for each other.
void Mesh::join_lower_ranks(Store& store) {
  for (int rank = 0; rank < config_.rank; ++rank) {
    const std::vector<char> invitation = store.get(invitation_key(config_, rank));
    const auto to = parse_rendezvous_file({invitation.begin(), invitation.end()});
    if (!to) lose(rank, "its invitation is damaged");
    try {
      const auto connection = join(to->addresses, to->port, to->nonce, config_.rank, timeout());
      peers_[static_cast<size_t>(rank)].socket = Descriptor(connection->release());
    } catch (const Error& error) {
      throw_if_cancelled();
      lose(rank, error.what());
    }
  }
}

void Mesh::accept_higher_ranks(Acceptor& acceptor) {
  for (int missing = config_.size - 1 - config_.rank; missing > 0; --missing) {
    Timeout left = timeout();
    std::optional<AcceptedPeer> arrived;
    while (!arrived && !left.expired()) arrived = acceptor.accept(left.next_check());
    if (!arrived) {
      throw_if_cancelled();
      const auto silent = std::find_if(peers_.begin() + config_.rank + 1, peers_.end(),
                                       [](const Peer& peer) { return !peer.socket; });
      lose(static_cast<int>(silent - peers_.begin()), "it does not connect");
    }
    peers_[static_cast<size_t>(arrived->rank)].socket = Descriptor(arrived->connection->release());
  }
}

void Mesh::send(int rank, uint64_t slot, std::span<const std::byte> bytes, int& completed) {
  Peer& peer = peers_.at(static_cast<size_t>(rank));
  peer.out.push_back({.head = {slot, bytes.size()}, .bytes = bytes, .completed = &completed});
  if (peer.out.size() == 1) write(rank);
}

void Mesh::receive(int rank, uint64_t slot, std::span<std::byte> bytes, int& completed) {
  Peer& peer = peers_.at(static_cast<size_t>(rank));
  peer.in.push_back({.head = {slot, bytes.size()}, .bytes = bytes, .completed = &completed});
}

void Mesh::wait(const std::function<bool()>& done) {
  Timeout left = timeout();
  while (!done()) {
    std::vector<pollfd> sockets;
    for (const Peer& peer : peers_) {
      const int events = (peer.out.empty() ? 0 : POLLOUT) | (peer.in.empty() ? 0 : POLLIN);
      sockets.push_back({events != 0 ? peer.socket.get() : -1, static_cast<short>(events), 0});
    }
    const int ready = ::poll(sockets.data(), sockets.size(), poll_timeout(left.next_check()));
    if (ready < 0 && errno != EINTR) base::throw_errno("poll");
    bool moved = false;
    for (int rank = 0; ready > 0 && rank < config_.size; ++rank) {
      const short events = sockets[static_cast<size_t>(rank)].revents;
      // What came before the end is read first.
      if ((events & ~POLLOUT) != 0) moved = read(rank) || moved;
      if ((events & ~POLLIN) != 0) moved = write(rank) || moved;
    }
    if (moved) left.restart();
    if (left.expired()) throw_silent();
  }
}

bool Mesh::write(int rank) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  size_t moved = 0;
  while (!peer.out.empty() && moved < kTurn) {
    Transfer<const std::byte>& one = peer.out.front();
    const size_t of_head = std::min(peer.sent, sizeof(Head));
    const std::span<const std::byte> rest = one.bytes.subspan(peer.sent - of_head);
    std::array<iovec, 2> parts{
        iovec{reinterpret_cast<char*>(&one.head) + of_head, sizeof(Head) - of_head},
        iovec{const_cast<std::byte*>(rest.data()), std::min(rest.size(), kTurn)}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = ::sendmsg(peer.socket.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) lose(rank, errno_message(errno));
    peer.sent += static_cast<size_t>(sent);
    moved += static_cast<size_t>(sent);
    if (peer.sent < sizeof(Head) + one.bytes.size()) continue;
    ++*one.completed;
    peer.out.pop_front();
    peer.sent = 0;
  }
  return moved > 0;
}

bool Mesh::read(int rank) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  size_t moved = 0;
  while (!peer.in.empty() && moved < kTurn) {
    Transfer<std::byte>& one = peer.in.front();
    std::span<std::byte> rest =
        peer.received < sizeof(Head)
            ? std::as_writable_bytes(std::span(&peer.head, 1)).subspan(peer.received)
            : one.bytes.subspan(peer.received - sizeof(Head));
    if (!rest.empty()) {
      const ssize_t got = ::recv(peer.socket.get(), rest.data(), std::min(rest.size(), kTurn), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
      if (got < 0) lose(rank, errno_message(errno));
      if (got == 0) lose(rank, "it closed the connection");
      peer.received += static_cast<size_t>(got);
      moved += static_cast<size_t>(got);
    }
    if (peer.received < sizeof(Head)) continue;
    if (peer.head.slot != one.head.slot || peer.head.length != one.head.length) {
      lose(rank, "it is doing something else than this rank");
    }
    if (peer.received < sizeof(Head) + one.bytes.size()) continue;
    ++*one.completed;
    peer.in.pop_front();
    peer.received = 0;
  }
  return moved > 0;
}

Timeout Mesh::timeout() const { return Timeout(config_.timeout, config_.is_cancelled); }

void Mesh::lose(int rank, const std::string& why) const {
  throw CommunicatorLost("rank " + std::to_string(rank) + " of the group " + config_.name +
                         " is lost to rank " + std::to_string(config_.rank) + ": " + why);
}

void Mesh::throw_if_cancelled() const {
  if (config_.is_cancelled && config_.is_cancelled()) {
    throw CommunicatorLost("the group " + config_.name + " was cancelled");
  }
}

void Mesh::throw_silent() const {
  throw_if_cancelled();
  std::string silent;
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].in.empty() && peers_[rank].out.empty()) continue;
    silent += (silent.empty() ? "" : ", ") + std::to_string(rank);
  }
  throw CommunicatorLost("rank " + std::to_string(config_.rank) + " of the group " + config_.name +
                         " has waited " + std::to_string(config_.timeout.count()) +
                         " ms for rank " + silent);
}

}  // namespace engine::comm
