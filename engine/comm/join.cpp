#include "engine/comm/join.h"

#include <poll.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "engine/comm/framing.h"
#include "engine/comm/handshake.h"
#include "engine/comm/rendezvous_file.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long an address may take to answer in the first round and in later ones, which get twice as
// long each: what does not answer must not hold up the others, and a slow rank 0 must not be left
// too early for ever.
constexpr milliseconds kFirstAttempt{50}, kLongestAttempt{5000};
constexpr milliseconds kFirstPause{20}, kLongestPause{250};

struct Place {
  std::string host;
  int port = 0;
};

// What was found at addresses where rank 0 is not, in words. The ports of one host at which the
// same was found are one entry.
class Findings {
 public:
  void add(const Place& place, const std::string& why) {
    if (!all_.empty() && all_.back().host == place.host && all_.back().why == why &&
        place.port - all_.back().last <= 1) {
      all_.back().last = place.port;
    } else {
      all_.push_back({place.host, why, place.port, place.port});
    }
  }
  std::string text() const {
    std::string text;
    for (const One& one : all_) {
      text += (text.empty() ? "" : "; ") + one.host +
              (one.first == one.last ? " port " : " ports ") + std::to_string(one.first) +
              (one.first == one.last ? "" : " to " + std::to_string(one.last)) + ": " + one.why;
    }
    return text;
  }

 private:
  struct One {
    std::string host, why;
    int first = 0, last = 0;  // ports
  };
  std::vector<One> all_;
};

// Reads the shared file.
class FileReader {
 public:
  explicit FileReader(std::string path) : path_(std::move(path)) {}

  // Where rank 0 may be; none where `why` says what is wrong with the file.
  std::vector<Place> places(const std::string& nonce, std::string& why) {
    std::optional<RendezvousFile> file = read(nonce, why);
    if (!file && steady_clock::now() >= next_refresh_) {
      next_refresh_ = steady_clock::now() + kBetweenRefreshes;
      refresh_folder(path_);
      file = read(nonce, why);
    }
    if (!file) return {};
    std::vector<Place> places;
    for (const std::string& address : file->addresses) places.push_back({address, file->port});
    places.push_back({file->host, file->port});
    // Last, since the other ranks cannot reach a rank that is known by these.
    if (file->host == own_host_name()) {
      places.push_back({"127.0.0.1", file->port});
      places.push_back({"::1", file->port});
    }
    return places;
  }

 private:
  // A refresh costs the file server something.
  static constexpr std::chrono::seconds kBetweenRefreshes{1};

  std::optional<RendezvousFile> read(const std::string& nonce, std::string& why) const {
    const std::optional<std::string> text = read_rendezvous_file(path_);
    std::optional<RendezvousFile> file = text ? parse_rendezvous_file(*text) : std::nullopt;
    if (file && file->nonce == nonce) return file;
    why = "the file '" + path_ + "' " +
          (!text   ? "is not there"
           : !file ? "is not whole"
                   : "is another run's, or an earlier attempt's");
    return std::nullopt;
  }

  const std::string path_;
  Deadline next_refresh_ = steady_clock::now();
};

class Joining {
 public:
  Joining(const std::string& nonce, int rank, Timeout& timeout)
      : nonce_(nonce), rank_(rank), timeout_(timeout) {}

  // `places`: where rank 0 may be, as it is known now; none where `why` says why not.
  std::unique_ptr<Connection> run(
      const std::function<std::vector<Place>(std::string& why)>& places) {
    std::string found;
    milliseconds pause = kFirstPause;
    for (; found.empty() || !timeout_.expired(); pause = std::min(2 * pause, kLongestPause)) {
      std::string why;
      if (auto connection = try_all(places(why), why)) return connection;
      // The last round may have been too short to find anything.
      if (found.empty() || !timeout_.expired()) found = why;
      if (!timeout_.expired()) std::this_thread::sleep_for(pause);
      length_ = std::min(2 * length_, kLongestAttempt);
    }
    throw Error(ExitCode::kDeviceFault,
                "rank " + std::to_string(rank_) + " does not find rank 0 of this run: " + found +
                    "; check that rank 0 is running and that its host can be reached from here");
  }

 private:
  // Null where rank 0 is at none of them; `why` says what is.
  std::unique_ptr<Connection> try_all(const std::vector<Place>& places, std::string& why) {
    Findings findings;
    for (const Place& place : places) {
      const auto start = steady_clock::now();
      const std::vector<SocketAddress> addresses = resolve(place.host, place.port, why);
      timeout_.charge(steady_clock::now() - start);  // resolving a name cannot be ended
      if (addresses.empty()) findings.add(place, why);
      for (const SocketAddress& address : addresses) {
        if (auto connection = attempt(place, address, why)) return connection;
        findings.add(place, why);
        if (timeout_.expired()) break;
      }
      if (timeout_.expired()) break;
    }
    if (!places.empty()) why = findings.text();
    return nullptr;
  }

  std::unique_ptr<Connection> attempt(const Place& place, const SocketAddress& address,
                                      std::string& why) {
    const Deadline end = steady_clock::now() + length_;
    Descriptor socket = begin_to_connect(address, why);
    if (!socket) return nullptr;
    why = "does not answer";
    if (!wait(socket.get(), POLLOUT, end)) return nullptr;
    why = connection_error(socket.get());
    if (!why.empty()) return nullptr;
    if (!send(socket.get(),
              message_of(Hello{.rank = rank_, .nonce = nonce_, .host = own_host_name()}), why)) {
      return nullptr;
    }
    const std::optional<Reply> reply = receive_reply(socket.get(), end, why);
    if (!reply) return nullptr;
    if (reply->verdict != Verdict::kWelcome) {
      throw Error(ExitCode::kDeviceFault, "rank 0 at " + place.host + " port " +
                                              std::to_string(place.port) + " rejects rank " +
                                              std::to_string(rank_) + ": " + reply->words);
    }
    if (!send(socket.get(), confirmation(), why)) return nullptr;
    return std::make_unique<Connection>(
        socket.release(), "rank 0 on " + (reply->host.empty() ? place.host : reply->host));
  }

  static bool send(int socket, const Message& message, std::string& why) {
    return send_all(socket, encode_frame(message), kLongestAttempt, why) == SendResult::kSent;
  }

  // That of rank 0 of this run; nullopt for any other, which may listen there by chance.
  std::optional<Reply> receive_reply(int socket, Deadline end, std::string& why) {
    FrameReader reader(kMaxHandshake);
    ReadResult result = ReadResult::kIncomplete;
    while ((result = reader.read(socket)) == ReadResult::kIncomplete) {
      why = "what listens there does not answer";
      if (!wait(socket, POLLIN, end)) return std::nullopt;
    }
    if (result == ReadResult::kClosed) {
      why = reader.why();
      return std::nullopt;
    }
    std::optional<Reply> reply;
    if (result == ReadResult::kComplete) reply = parse_reply(reader.take());
    if (reply && reply->nonce == nonce_) return reply;
    why = !reply || reply->verdict == Verdict::kWelcome ? "something else listens there"
                                                        : reply->words;
    return std::nullopt;
  }

  // False at the end of this attempt.
  bool wait(int socket, short events, Deadline end) {
    while (!wait_for_events(socket, events, std::min(end, timeout_.next_check()))) {
      if (steady_clock::now() >= end || timeout_.expired()) return false;
    }
    return true;
  }

  const std::string& nonce_;
  const int rank_;
  Timeout& timeout_;
  milliseconds length_ = kFirstAttempt;
};

}  // namespace

std::unique_ptr<Connection> join(const Rendezvous& rendezvous, const std::string& nonce, int rank,
                                 Timeout timeout) {
  Joining joining(nonce, rank, timeout);
  if (!rendezvous.file.empty()) {
    FileReader file(rendezvous.file);
    return joining.run([&](std::string& why) { return file.places(nonce, why); });
  }
  std::vector<Place> places;
  for (int i = 0; i < std::max(rendezvous.ports, 1) && rendezvous.port + i <= 65535; ++i) {
    places.push_back({rendezvous.host, rendezvous.port + i});
  }
  return joining.run([&](std::string& /*why*/) { return places; });
}

std::unique_ptr<Connection> join(const std::vector<std::string>& addresses, int port,
                                 const std::string& nonce, int rank, Timeout timeout) {
  std::vector<Place> places;
  for (const std::string& address : addresses) places.push_back({address, port});
  return Joining(nonce, rank, timeout).run([&](std::string& /*why*/) { return places; });
}

}  // namespace engine::comm
