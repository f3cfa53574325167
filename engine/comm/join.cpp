// The other ranks' side of the rendezvous; rank 0's is in door.cpp.
#include "engine/comm/join.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <list>
#include <set>
#include <system_error>
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

// How long what does not answer is waited for before all places are tried anew. More from round to
// round: a connection may be with what is dead, and a slow rank 0 must not be left too early for
// ever.
constexpr milliseconds kFirstRound{250}, kLongestRound{5000};
constexpr milliseconds kFirstPause{20}, kLongestPause{250};
// One place goes before the next, so that most often the others are left in peace.
constexpr milliseconds kHeadStart{20};

struct Place {
  std::string host;
  int port = 0;

  std::string words() const { return host + " port " + std::to_string(port); }
};

// What was met at places that are not rank 0's. Places of one host where the same was met are one.
class Met {
 public:
  void note(const Place& place, const std::string& why) {
    for (One& one : all_) {
      if (one.host != place.host || one.why != why) continue;
      one.ports.insert(place.port);
      return;
    }
    all_.push_back({place.host, why, {place.port}});
  }

  std::string words() const {
    std::string text;
    for (const One& one : all_) {
      text += (text.empty() ? "" : "; ") + one.host + ports_text(one.ports) + ": " + one.why;
    }
    return text;
  }

 private:
  struct One {
    std::string host, why;
    std::set<int> ports;
  };

  static std::string ports_text(const std::set<int>& ports) {
    const int first = *ports.begin(), last = *ports.rbegin();
    if (first == last) return " port " + std::to_string(first);
    if (last - first + 1 == static_cast<int>(ports.size())) {
      return " ports " + std::to_string(first) + " to " + std::to_string(last);
    }
    std::string text;
    for (const int port : ports) text += (text.empty() ? " ports " : ", ") + std::to_string(port);
    return text;
  }

  std::vector<One> all_;
};

// What became of a try at one place.
struct Outcome {
  std::unique_ptr<Connection> connection;
  std::string why;
  bool final = false;  // rank 0 of this very run says no
};

// Looks into the shared file.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  // Nothing where no such file is seen; `why` says what is.
  std::optional<RendezvousFile> read(const std::string& nonce, std::string& why) {
    std::optional<RendezvousFile> rendezvous = look(nonce, why);
    if (rendezvous || steady_clock::now() < next_update_) return rendezvous;
    next_update_ = steady_clock::now() + kBetweenUpdates;
    refresh_folder(path_);
    return look(nonce, why);
  }

 private:
  // It costs the server something.
  static constexpr std::chrono::seconds kBetweenUpdates{1};

  std::optional<RendezvousFile> look(const std::string& nonce, std::string& why) const {
    const std::optional<std::string> text = read_rendezvous_file(path_);
    std::optional<RendezvousFile> rendezvous = text ? parse_rendezvous_file(*text) : std::nullopt;
    if (rendezvous && rendezvous->nonce == nonce) return rendezvous;
    why = "the file '" + path_ + "' " +
          (!text         ? "is not there"
           : !rendezvous ? "is not whole"
                         : "is another run's, or an earlier attempt's");
    return std::nullopt;
  }

  const std::string path_;
  Deadline next_update_ = steady_clock::now();
};

// Where rank 0 may be, by the file as it is now; `why` says what is wrong with the file.
std::vector<Place> places_of_file(Reader& file, const std::string& nonce, std::string& why) {
  const std::optional<RendezvousFile> rendezvous = file.read(nonce, why);
  if (!rendezvous) return {};
  std::vector<Place> places;
  for (const std::string& address : rendezvous->addresses)
    places.push_back({address, rendezvous->port});
  places.push_back({rendezvous->host, rendezvous->port});
  // Last: the other ranks cannot reach one that is known by this address.
  if (rendezvous->host == own_host_name()) {
    places.push_back({"127.0.0.1", rendezvous->port});
    places.push_back({"::1", rendezvous->port});
  }
  return places;
}

std::vector<Place> places_of(const Rendezvous& rendezvous) {
  std::vector<Place> places;
  for (int i = 0; i < std::max(rendezvous.ports, 1) && rendezvous.port + i <= 65535; ++i) {
    places.push_back({rendezvous.host, rendezvous.port + i});
  }
  return places;
}

// A connection with what may be rank 0.
class Attempt {
 public:
  Attempt(Place place, Descriptor socket) : place_(std::move(place)), socket_(std::move(socket)) {}

  const Place& place() const { return place_; }
  pollfd waits_for() const {
    return {socket_.get(), static_cast<short>(connected_ ? POLLIN : POLLOUT), 0};
  }
  // After such an event. Nothing: it is to wait for the next.
  std::optional<Outcome> go_on(const std::string& nonce, int rank) {
    return connected_ ? listen(nonce) : greet(nonce, rank);
  }
  std::string silence() const {
    return connected_ ? "what listens there does not answer" : "does not answer";
  }

 private:
  std::optional<Outcome> greet(const std::string& nonce, int rank) {
    std::string why = connection_error(socket_.get());
    if (!why.empty()) return Outcome{.why = why};
    connected_ = true;
    prepare_connection(socket_.get());
    return send(message_of(Hello{.rank = rank, .nonce = nonce, .host = own_host_name()}));
  }

  std::optional<Outcome> send(const Message& message) {
    std::string why;
    if (send_all(socket_.get(), encode_frame(message), kLongestRound, why) == SendResult::kSent)
      return std::nullopt;
    return Outcome{.why = why};
  }

  std::optional<Outcome> listen(const std::string& nonce) {
    switch (reader_.read(socket_.get())) {
      case ReadResult::kIncomplete:
        return std::nullopt;
      case ReadResult::kClosed:
        return Outcome{.why = reader_.why()};
      case ReadResult::kTooLong:
        return Outcome{.why = "something else listens there"};
      case ReadResult::kComplete:
        break;
    }
    const std::optional<Reply> reply = parse_reply(reader_.take());
    if (!reply) return Outcome{.why = "something else listens there"};
    if (reply->nonce != nonce) {
      return Outcome{.why = reply->verdict == Verdict::kWelcome ? "something else listens there"
                                                                : reply->words};
    }
    if (reply->verdict != Verdict::kWelcome) return Outcome{.why = reply->words, .final = true};
    if (auto failed = send(confirmation())) return failed;
    const std::string peer = "rank 0 on " + (reply->host.empty() ? place_.host : reply->host);
    return Outcome{.connection = std::make_unique<Connection>(socket_.release(), peer)};
  }

  Place place_;
  Descriptor socket_;
  bool connected_ = false;
  FrameReader reader_{kMaxHandshake};
};

// All places at once, so that what is silent does not hold up the search for the right one.
class Round {
 public:
  Round(std::vector<Place> places, const std::string& nonce, int rank, Timeout& timeout)
      : places_(std::move(places)), nonce_(nonce), rank_(rank), patience_(timeout) {}

  // What is neither a link nor final: why of each place.
  Outcome run(milliseconds length) {
    const Deadline end = steady_clock::now() + length + kHeadStart * places_.size();
    for (;;) {
      while (begun_ < places_.size() && (attempts_.empty() || steady_clock::now() >= next_)) {
        begin(places_[begun_++]);
      }
      if (attempts_.empty()) return {.why = met_.words()};
      wait(end);
      if (auto outcome = look()) return std::move(*outcome);
      if (steady_clock::now() >= end || patience_.expired()) break;
    }
    for (const Attempt& attempt : attempts_) met_.note(attempt.place(), attempt.silence());
    return {.why = met_.words()};
  }

 private:
  void begin(const Place& place) {
    const auto start = steady_clock::now();
    for (Connected& one : begin_to_connect(place.host, place.port)) {
      if (one.socket) {
        attempts_.emplace_back(place, std::move(one.socket));
      } else {
        met_.note(place, one.why);
      }
    }
    next_ = steady_clock::now() + kHeadStart;
    patience_.charge(steady_clock::now() - start);  // a name may take long
  }

  void wait(Deadline end) {
    end = std::min(end, patience_.next_check());
    if (begun_ < places_.size()) end = std::min(end, next_);
    events_.clear();
    for (const Attempt& attempt : attempts_) events_.push_back(attempt.waits_for());
    const int ready = ::poll(events_.data(), events_.size(), poll_timeout(end));
    if (ready < 0) {
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
      for (pollfd& one : events_) one.revents = 0;
    }
  }

  std::optional<Outcome> look() {
    size_t i = 0;
    for (auto attempt = attempts_.begin(); attempt != attempts_.end(); ++i) {
      std::optional<Outcome> outcome;
      if (events_[i].revents != 0) outcome = attempt->go_on(nonce_, rank_);
      if (!outcome) {
        ++attempt;
        continue;
      }
      if (outcome->connection) return outcome;
      if (outcome->final) {
        outcome->why = "rank 0 at " + attempt->place().words() + " turns rank " +
                       std::to_string(rank_) + " away: " + outcome->why;
        return outcome;
      }
      met_.note(attempt->place(), outcome->why);
      attempt = attempts_.erase(attempt);
    }
    return std::nullopt;
  }

  const std::vector<Place> places_;
  const std::string& nonce_;
  const int rank_;
  Timeout& patience_;
  size_t begun_ = 0;
  Deadline next_;
  std::list<Attempt> attempts_;
  std::vector<pollfd> events_;
  Met met_;
};

// `look`: where rank 0 may be, as it is known now; says what is wrong with what it looked at.
std::unique_ptr<Connection> join_at(const std::function<std::vector<Place>(std::string& why)>& look,
                                    const std::string& nonce, int rank, Timeout& timeout) {
  milliseconds length = kFirstRound, pause = kFirstPause;
  std::string met;
  for (;;) {
    std::string why;
    std::vector<Place> places = look(why);
    if (!places.empty()) {
      Outcome outcome = Round(std::move(places), nonce, rank, timeout).run(length);
      if (outcome.connection) return std::move(outcome.connection);
      if (outcome.final) throw Error(ExitCode::kDeviceFault, outcome.why);
      why = outcome.why;
    }
    // The last round may have been too short to meet anybody.
    if (met.empty() || !timeout.expired()) met = why;
    if (!timeout.expired()) std::this_thread::sleep_for(pause);
    if (timeout.expired()) break;
    length = std::min(2 * length, kLongestRound);
    pause = std::min(2 * pause, kLongestPause);
  }
  throw Error(ExitCode::kDeviceFault,
              "rank " + std::to_string(rank) + " does not find rank 0 of this run: " + met +
                  "; check that rank 0 is running and that its host can be reached from here");
}

}  // namespace

std::unique_ptr<Connection> join(const Rendezvous& rendezvous, const std::string& nonce, int rank,
                                 Timeout timeout) {
  if (rendezvous.file.empty()) {
    const std::vector<Place> places = places_of(rendezvous);
    return join_at([&](std::string& /*why*/) { return places; }, nonce, rank, timeout);
  }
  Reader file(rendezvous.file);
  return join_at([&](std::string& why) { return places_of_file(file, nonce, why); }, nonce, rank,
                 timeout);
}

std::unique_ptr<Connection> join(const std::vector<std::string>& addresses, int port,
                                 const std::string& nonce, int rank, Timeout timeout) {
  std::vector<Place> places;
  for (const std::string& address : addresses) places.push_back({address, port});
  return join_at([&](std::string& /*why*/) { return places; }, nonce, rank, timeout);
}

}  // namespace engine::comm
