// Rank 0's side of the rendezvous.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "engine/comm/connection.h"
#include "engine/comm/framing.h"
#include "engine/comm/handshake.h"
#include "engine/comm/rendezvous_file.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"

namespace engine::comm {
namespace {

using std::chrono::steady_clock;

// A rank needs two round trips; a stranger may say nothing at all.
constexpr std::chrono::seconds kPatience{5};
constexpr size_t kMostVisitors = 256;

Descriptor listen_at_one_of(const MeetingPlace& place) {
  const int last = std::min(place.port + std::max(place.ports, 1) - 1, 65535);
  for (int port = place.port; port <= last; ++port) {
    Descriptor socket = listen_at(port);
    if (socket) return socket;
  }
  std::string why = words_of_errno(errno);
  // Whoever reads the file learns which.
  if (!place.file.empty()) {
    Descriptor socket = listen_at(0);
    if (socket) return socket;
    why = words_of_errno(errno);
  }
  throw InputError("rank 0 cannot listen at any port from " + std::to_string(place.port) + " to " +
                   std::to_string(last) + " (" + why +
                   "): name a free one with --rendezvous HOST:PORT");
}

// Somebody at the door who has not proved yet who it is.
struct Visitor {
  explicit Visitor(int number)
      : socket(number), end(steady_clock::now() + kPatience), reader(kLongestGreeting) {}

  Descriptor socket;
  Deadline end;
  FrameReader reader;
  std::optional<Hello> hello;
  bool welcomed = false;  // and has yet to say that it knows
};

}  // namespace

struct Door::State {
  State(const MeetingPlace& place, std::string own_nonce, int ranks)
      : file(place.file),
        nonce(std::move(own_nonce)),
        size(ranks),
        host(own_host_name()),
        listener(listen_at_one_of(place)) {}

  void let_in();
  void wait(Deadline deadline);
  void serve();
  // False: the visitor is done with.
  bool serve(Visitor& visitor);
  bool listen_to(Visitor& visitor);
  bool answer(Visitor& visitor);
  bool is_expected(const Visitor& visitor) const;

  const std::string file, nonce;
  const int size;
  const std::string host;
  std::string written;  // into the file
  Descriptor listener;
  std::list<Visitor> visitors;  // the oldest first
  std::set<int> taken;
  std::list<Arrived> arrived;
};

// As many as there is room for; the others wait in the kernel.
void Door::State::let_in() {
  while (visitors.size() < kMostVisitors) {
    const int socket = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      prepare_connection(socket);
      visitors.emplace_back(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      const std::string advice = errno == EMFILE ? "; allow more open files ('ulimit -n')" : "";
      throw Error(ExitCode::kDeviceFault,
                  "another connection cannot be taken: " + words_of_errno(errno) + advice);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }
    // Anything else is this one visitor's: it went away before it was let in.
  }
}

void Door::State::wait(Deadline deadline) {
  std::vector<pollfd> sockets;
  const bool room = visitors.size() < kMostVisitors;
  sockets.push_back({listener.get(), static_cast<short>(room ? POLLIN : 0), 0});
  for (const Visitor& visitor : visitors) {
    deadline = std::min(deadline, visitor.end);
    const bool is_its_turn = !visitor.hello || visitor.welcomed;
    sockets.push_back({is_its_turn ? visitor.socket.get() : -1, POLLIN, 0});
  }
  // Who is turned away for want of room is who had the most time.
  const int timeout = room ? poll_timeout(deadline) : 0;
  if (::poll(sockets.data(), sockets.size(), timeout) == 0 && !room) visitors.pop_front();
}

void Door::State::serve() {
  size_t before = 0;
  do {  // one may have waited for what became of another
    before = visitors.size();
    for (auto visitor = visitors.begin(); visitor != visitors.end();) {
      const bool stays = serve(*visitor) && steady_clock::now() < visitor->end;
      visitor = stays ? std::next(visitor) : visitors.erase(visitor);
    }
  } while (visitors.size() < before);
}

bool Door::State::serve(Visitor& visitor) {
  if (!visitor.hello && !listen_to(visitor)) return false;
  if (visitor.hello && !visitor.welcomed && !answer(visitor)) return false;
  if (!visitor.welcomed) return true;
  const Read read = visitor.reader.read(visitor.socket.get());
  if (read == Read::kNotYet) return true;
  if (read == Read::kWhole && is_here_i_am(visitor.reader.take())) {
    const Hello& hello = *visitor.hello;
    taken.insert(hello.rank);
    arrived.push_back({.rank = hello.rank,
                       .host = hello.host,
                       .link = std::make_unique<Link>(
                           visitor.socket.release(),
                           "rank " + std::to_string(hello.rank) + " on " + hello.host)});
  }
  return false;
}

bool Door::State::listen_to(Visitor& visitor) {
  switch (visitor.reader.read(visitor.socket.get())) {
    case Read::kNotYet:
      return true;
    case Read::kWhole:
      visitor.hello = hello_of(visitor.reader.take());
      return visitor.hello.has_value();
    case Read::kEnded:
    case Read::kTooLong:
      return false;
  }
  return false;
}

bool Door::State::answer(Visitor& visitor) {
  Answer answer = answer_to(*visitor.hello, nonce, size);
  if (answer.verdict == Verdict::kWelcome) {
    // The same rank has been welcomed by another connection. It may have given that up: wait and
    // see.
    if (is_expected(visitor)) return true;
    if (taken.count(visitor.hello->rank) > 0) {
      answer.verdict = Verdict::kTaken;
      answer.words = "this rank has arrived before: start each rank once";
    }
  }
  answer.host = host;
  std::string ignored;  // it went away
  visitor.welcomed = answer.verdict == Verdict::kWelcome;
  return send_bytes(visitor.socket.get(), frame_of(message_of(answer)),
                    std::chrono::milliseconds(0), ignored) &&
         visitor.welcomed;
}

bool Door::State::is_expected(const Visitor& visitor) const {
  return std::any_of(visitors.begin(), visitors.end(), [&](const Visitor& other) {
    return &other != &visitor && other.welcomed && other.hello->rank == visitor.hello->rank;
  });
}

Door::Door(const MeetingPlace& place, std::string nonce, int size)
    : state_(std::make_unique<State>(place, std::move(nonce), size)) {
  if (place.file.empty()) return;
  state_->written = text_of(
      {.nonce = state_->nonce, .host = state_->host, .addresses = own_addresses(), .port = port()});
  with_input_errors([&] {
    base::write_file_atomically(place.file, state_->written, {.folder = base::Folder::kMake});
  });
}

Door::~Door() {
  // By now it may be the next attempt's.
  if (!state_->written.empty() && read_meeting_file(state_->file) == state_->written) {
    ::unlink(state_->file.c_str());
  }
}

int Door::port() const { return port_of(state_->listener.get()); }

std::optional<Arrived> Door::accept(Deadline deadline) {
  for (;;) {
    state_->let_in();
    state_->serve();
    if (!state_->arrived.empty()) {
      Arrived first = std::move(state_->arrived.front());
      state_->arrived.pop_front();
      return first;
    }
    if (steady_clock::now() >= deadline) return std::nullopt;
    state_->wait(deadline);
  }
}

}  // namespace engine::comm
