#include "engine/comm/mesh.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "engine/comm/acceptor.h"
#include "engine/comm/join.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

// What moves for one rank before it is another's turn.
constexpr size_t kTurn = size_t{4} << 20;

// What a rank tells those that join it.
struct Invitation {
  std::string nonce;
  int port = 0;
  std::vector<std::string> addresses;
};

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

std::string invitation_key(const GroupConfig& place, int rank) {
  return place.name + "/mesh/" + std::to_string(rank);
}

std::string new_nonce(const GroupConfig& place) {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = place.name + "/";
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::vector<char> written(const Invitation& invitation) {
  std::string text = invitation.nonce + "\n" + std::to_string(invitation.port) + "\n";
  for (const std::string& address : invitation.addresses) text += address + "\n";
  return {text.begin(), text.end()};
}

Invitation invitation_of(const std::vector<char>& entry) {
  std::istringstream text(std::string(entry.begin(), entry.end()));
  Invitation invitation;
  std::string line;
  std::getline(text, invitation.nonce);
  std::getline(text, line);
  invitation.port = std::atoi(line.c_str());
  while (std::getline(text, line)) invitation.addresses.push_back(line);
  return invitation;
}

}  // namespace

Mesh::Mesh(const GroupConfig& place, Store& store)
    : place_(place), peers_(static_cast<size_t>(place.size)) {
  if (place.size == 1) return;
  const std::string nonce = new_nonce(place);
  Acceptor acceptor(Rendezvous{}, nonce, place.size);
  store.put(invitation_key(place, place.rank),
            written({.nonce = nonce,
                     .port = acceptor.port(),
                     .addresses = likeliest_first(place.addresses)}));
  join_lower_ranks(store);
  accept_higher_ranks(acceptor);
}

Mesh::~Mesh() = default;

// Each rank waits only for ranks before it: none waits for ever.
void Mesh::join_lower_ranks(Store& store) {
  for (int rank = 0; rank < place_.rank; ++rank) {
    const Invitation to = invitation_of(store.get(invitation_key(place_, rank)));
    try {
      const auto connection = join(to.addresses, to.port, to.nonce, place_.rank, timeout());
      peers_[static_cast<size_t>(rank)].socket = Descriptor(connection->release());
    } catch (const Error& error) {
      throw_if_cancelled();
      lose(rank, error.what());
    }
  }
}

void Mesh::accept_higher_ranks(Acceptor& acceptor) {
  for (int missing = place_.size - 1 - place_.rank; missing > 0; --missing) {
    Timeout left = timeout();
    std::optional<AcceptedPeer> arrived;
    while (!arrived && !left.expired()) arrived = acceptor.accept(left.next_check());
    if (!arrived) {
      throw_if_cancelled();
      const auto silent = std::find_if(peers_.begin() + place_.rank + 1, peers_.end(),
                                       [](const Peer& peer) { return !peer.socket; });
      lose(static_cast<int>(silent - peers_.begin()), "it does not come");
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
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    bool moved = false;
    for (int rank = 0; ready > 0 && rank < place_.size; ++rank) {
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
    Outgoing& one = peer.out.front();
    const size_t of_head = std::min(one.sent, sizeof(Head));
    const std::span<const std::byte> rest = one.bytes.subspan(one.sent - of_head);
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
    one.sent += static_cast<size_t>(sent);
    moved += static_cast<size_t>(sent);
    if (one.sent < sizeof(Head) + one.bytes.size()) continue;
    ++*one.completed;
    peer.out.pop_front();
  }
  return moved > 0;
}

bool Mesh::read(int rank) {
  Peer& peer = peers_[static_cast<size_t>(rank)];
  size_t moved = 0;
  while (!peer.in.empty() && moved < kTurn) {
    Incoming& one = peer.in.front();
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

Timeout Mesh::timeout() const { return Timeout(place_.timeout, place_.is_cancelled); }

void Mesh::lose(int rank, const std::string& why) const {
  throw CommunicatorLost("rank " + std::to_string(rank) + " of the group " + place_.name +
                         " is lost to rank " + std::to_string(place_.rank) + ": " + why);
}

void Mesh::throw_if_cancelled() const {
  if (place_.is_cancelled && place_.is_cancelled()) {
    throw CommunicatorLost("the group " + place_.name + " is of no use any more");
  }
}

void Mesh::throw_silent() const {
  throw_if_cancelled();
  std::string silent;
  for (size_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].in.empty() && peers_[rank].out.empty()) continue;
    silent += (silent.empty() ? "" : ", ") + std::to_string(rank);
  }
  throw CommunicatorLost("rank " + std::to_string(place_.rank) + " of the group " + place_.name +
                         " has waited " + std::to_string(place_.timeout.count()) +
                         " ms in vain for rank " + silent);
}

}  // namespace engine::comm
