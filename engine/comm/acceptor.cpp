#include "engine/comm/acceptor.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "engine/comm/framing.h"
#include "engine/comm/handshake.h"
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

// A connection whose peer has not proved yet which rank it is.
struct PendingConnection {
  explicit PendingConnection(int number)
      : socket(number), end(steady_clock::now() + kHandshakeTimeout), reader(kMaxHandshake) {}

  Descriptor socket;
  Deadline end;
  FrameReader reader;
  std::optional<Hello> hello;
  bool welcomed = false;  // and has to confirm it
};

}  // namespace

struct Acceptor::State {
  State(const Rendezvous& place, std::string own_nonce, int ranks)
      : file(place.file),
        nonce(std::move(own_nonce)),
        size(ranks),
        host(own_host_name()),
        listener(listen_at_one_of(place)) {}

  void accept_new();
  void wait(Deadline deadline);
  void serve();
  // False: the connection is to be closed.
  bool serve(PendingConnection& peer);
  bool read_hello(PendingConnection& peer);
  bool reply(PendingConnection& peer);
  bool is_welcomed_elsewhere(const PendingConnection& peer) const;

  const std::string file, nonce;
  const int size;
  const std::string host;
  std::string written;  // into the file
  Descriptor listener;
  std::list<PendingConnection> pending;  // the oldest first
  std::set<int> taken;
  std::list<AcceptedPeer> arrived;
};

// Accepts as many as there is room for; the others wait in the kernel.
void Acceptor::State::accept_new() {
  while (pending.size() < kMaxPending) {
    const int socket = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      prepare_connection(socket);
      pending.emplace_back(socket);
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

void Acceptor::State::wait(Deadline deadline) {
  std::vector<pollfd> sockets;
  const bool room = pending.size() < kMaxPending;
  sockets.push_back({listener.get(), static_cast<short>(room ? POLLIN : 0), 0});
  for (const PendingConnection& peer : pending) {
    deadline = std::min(deadline, peer.end);
    const bool awaits_peer = !peer.hello || peer.welcomed;
    sockets.push_back({awaits_peer ? peer.socket.get() : -1, POLLIN, 0});
  }
  // When full, drop the oldest pending connection.
  const int timeout = room ? poll_timeout(deadline) : 0;
  if (::poll(sockets.data(), sockets.size(), timeout) == 0 && !room) pending.pop_front();
}

void Acceptor::State::serve() {
  size_t before = 0;
  do {  // a rank that connected twice waits for the end of its first connection
    before = pending.size();
    for (auto peer = pending.begin(); peer != pending.end();) {
      const bool stays = serve(*peer) && steady_clock::now() < peer->end;
      peer = stays ? std::next(peer) : pending.erase(peer);
    }
  } while (pending.size() < before);
}

bool Acceptor::State::serve(PendingConnection& peer) {
  if (!peer.hello && !read_hello(peer)) return false;
  if (peer.hello && !peer.welcomed && !reply(peer)) return false;
  if (!peer.welcomed) return true;
  const ReadResult read = peer.reader.read(peer.socket.get());
  if (read == ReadResult::kIncomplete) return true;
  if (read == ReadResult::kComplete && is_confirmation(peer.reader.take())) {
    const Hello& hello = *peer.hello;
    taken.insert(hello.rank);
    arrived.push_back(
        {.rank = hello.rank,
         .host = hello.host,
         .connection = std::make_unique<Connection>(
             peer.socket.release(), "rank " + std::to_string(hello.rank) + " on " + hello.host)});
  }
  return false;
}

bool Acceptor::State::read_hello(PendingConnection& peer) {
  switch (peer.reader.read(peer.socket.get())) {
    case ReadResult::kIncomplete:
      return true;
    case ReadResult::kComplete:
      peer.hello = parse_hello(peer.reader.take());
      return peer.hello.has_value();
    case ReadResult::kClosed:
    case ReadResult::kTooLong:
      return false;
  }
  return false;
}

bool Acceptor::State::reply(PendingConnection& peer) {
  Reply reply = reply_to(*peer.hello, nonce, size);
  if (reply.verdict == Verdict::kWelcome) {
    // The same rank has been welcomed on another connection, which it may have given up since.
    if (is_welcomed_elsewhere(peer)) return true;
    if (taken.count(peer.hello->rank) > 0) {
      reply.verdict = Verdict::kTaken;
      reply.words = "this rank has arrived before: start each rank once";
    }
  }
  reply.host = host;
  std::string ignored;  // the peer went away
  peer.welcomed = reply.verdict == Verdict::kWelcome;
  return send_all(peer.socket.get(), encode_frame(message_of(reply)), std::chrono::milliseconds(0),
                  ignored) == SendResult::kSent &&
         peer.welcomed;
}

bool Acceptor::State::is_welcomed_elsewhere(const PendingConnection& peer) const {
  return std::any_of(pending.begin(), pending.end(), [&](const PendingConnection& other) {
    return &other != &peer && other.welcomed && other.hello->rank == peer.hello->rank;
  });
}

Acceptor::Acceptor(const Rendezvous& place, std::string nonce, int size)
    : state_(std::make_unique<State>(place, std::move(nonce), size)) {
  if (place.file.empty()) return;
  state_->written = text_of(
      {.nonce = state_->nonce, .host = state_->host, .addresses = own_addresses(), .port = port()});
  with_input_errors([&] {
    base::write_file_atomically(place.file, state_->written, {.folder = base::Folder::kMake});
  });
}

Acceptor::~Acceptor() {
  // The file may belong to the next attempt already.
  if (!state_->written.empty() && read_rendezvous_file(state_->file) == state_->written) {
    ::unlink(state_->file.c_str());
  }
}

int Acceptor::port() const { return port_of(state_->listener.get()); }

std::optional<AcceptedPeer> Acceptor::accept(Deadline deadline) {
  for (;;) {
    state_->accept_new();
    state_->serve();
    if (!state_->arrived.empty()) {
      AcceptedPeer first = std::move(state_->arrived.front());
      state_->arrived.pop_front();
      return first;
    }
    if (steady_clock::now() >= deadline) return std::nullopt;
    state_->wait(deadline);
  }
}

}  // namespace engine::comm
