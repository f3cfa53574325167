#include "engine/comm/acceptor.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "engine/comm/rendezvous_file.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"

namespace engine::comm {
namespace {

using std::chrono::steady_clock;

// A rank needs two round trips; any other program may stay silent.
constexpr std::chrono::seconds kHandshakeTimeout{5};
constexpr size_t kMaxPending = 256;

Descriptor listen_at_one_of(const Rendezvous& place) {
  const int last = std::min(place.port + std::max(place.ports, 1) - 1, 65535);
  for (int port = place.port; port <= last; ++port) {
    Descriptor socket = listen_at(port);
    if (socket) return socket;
  }
  std::string why = errno_message(errno);
  // The file names the port.
  if (!place.file.empty()) {
    Descriptor socket = listen_at(0);
    if (socket) return socket;
    why = errno_message(errno);
  }
  throw InputError("rank 0 cannot listen at any port from " + std::to_string(place.port) + " to " +
                   std::to_string(last) + " (" + why +
                   "): name a free one with --rendezvous HOST:PORT");
}

}  // namespace

Acceptor::Pending::Pending(int number)
    : socket(number), timeout(kHandshakeTimeout), reader(kMaxHandshake) {}

// Accepts as many as there is room for; the others wait in the kernel.
void Acceptor::accept_new() {
  while (pending_.size() < kMaxPending) {
    const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      prepare_connection(socket);
      pending_.emplace_back(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      const std::string advice = errno == EMFILE ? "; allow more open files ('ulimit -n')" : "";
      throw Error(ExitCode::kDeviceFault,
                  "another connection cannot be taken: " + errno_message(errno) + advice);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }
    // Any other error is this one peer's, which went away before it was accepted.
  }
}

void Acceptor::wait(Deadline deadline) {
  std::vector<pollfd> sockets;
  const bool room = pending_.size() < kMaxPending;
  sockets.push_back({listener_.get(), static_cast<short>(room ? POLLIN : 0), 0});
  for (Pending& peer : pending_) {
    deadline = std::min(deadline, peer.timeout.next_check());
    const bool awaits_peer = !peer.hello || peer.welcomed;
    sockets.push_back({awaits_peer ? peer.socket.get() : -1, POLLIN, 0});
  }
  // When full, drop the oldest pending connection.
  const int timeout = room ? poll_timeout(deadline) : 0;
  if (::poll(sockets.data(), sockets.size(), timeout) == 0 && !room) pending_.pop_front();
}

void Acceptor::serve() {
  size_t before = 0;
  do {  // a rank that connected twice waits for the end of its first connection
    before = pending_.size();
    for (auto peer = pending_.begin(); peer != pending_.end();) {
      const bool stays = serve(*peer) && !peer->timeout.expired();
      peer = stays ? std::next(peer) : pending_.erase(peer);
    }
  } while (pending_.size() < before);
}

bool Acceptor::serve(Pending& peer) {
  if (!peer.hello && !read_hello(peer)) return false;
  if (peer.hello && !peer.welcomed && !reply(peer)) return false;
  if (!peer.welcomed) return true;
  const ReadResult read = peer.reader.read(peer.socket.get());
  if (read == ReadResult::kIncomplete) return true;
  if (read == ReadResult::kComplete && is_confirmation(peer.reader.take())) {
    const Hello& hello = *peer.hello;
    taken_.insert(hello.rank);
    arrived_.push_back(
        {.rank = hello.rank,
         .host = hello.host,
         .connection = std::make_unique<Connection>(
             peer.socket.release(), "rank " + std::to_string(hello.rank) + " on " + hello.host)});
  }
  return false;
}

bool Acceptor::read_hello(Pending& peer) {
  const ReadResult read = peer.reader.read(peer.socket.get());
  if (read == ReadResult::kComplete) peer.hello = parse_hello(peer.reader.take());
  return read == ReadResult::kIncomplete || peer.hello.has_value();
}

bool Acceptor::reply(Pending& peer) {
  Reply reply = reply_to(*peer.hello, nonce_, size_);
  if (reply.verdict == Verdict::kWelcome) {
    // The same rank has been welcomed on another connection, which it may have given up since.
    if (is_welcomed_elsewhere(peer)) return true;
    if (taken_.count(peer.hello->rank) > 0) {
      reply.verdict = Verdict::kTaken;
      reply.words = "this rank has arrived before: start each rank once";
    }
  }
  reply.host = host_;
  std::string ignored;  // the peer went away
  peer.welcomed = reply.verdict == Verdict::kWelcome;
  return send_all(peer.socket.get(), encode_frame(message_of(reply)), std::chrono::milliseconds(0),
                  ignored) == SendResult::kSent &&
         peer.welcomed;
}

bool Acceptor::is_welcomed_elsewhere(const Pending& peer) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& other) {
    return &other != &peer && other.welcomed && other.hello->rank == peer.hello->rank;
  });
}

Acceptor::Acceptor(const Rendezvous& place, std::string nonce, int size)
    : file_(place.file),
      nonce_(std::move(nonce)),
      size_(size),
      host_(own_host_name()),
      listener_(listen_at_one_of(place)) {
  if (place.file.empty()) return;
  written_ =
      text_of({.nonce = nonce_, .host = host_, .addresses = own_addresses(), .port = port()});
  write_text_atomically(place.file, written_);
}

Acceptor::~Acceptor() {
  // The file may belong to the next attempt already.
  if (!written_.empty() && read_rendezvous_file(file_) == written_) ::unlink(file_.c_str());
}

int Acceptor::port() const { return port_of(listener_.get()); }

std::optional<AcceptedPeer> Acceptor::accept(Deadline deadline) {
  for (;;) {
    accept_new();
    serve();
    if (!arrived_.empty()) {
      AcceptedPeer first = std::move(arrived_.front());
      arrived_.pop_front();
      return first;
    }
    if (steady_clock::now() >= deadline) return std::nullopt;
    wait(deadline);
  }
}

}  // namespace engine::comm
