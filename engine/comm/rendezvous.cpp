// The other ranks' side of the rendezvous; rank 0's is in door.cpp.
#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/comm/frames.h"
#include "engine/comm/handshake.h"
#include "engine/comm/link.h"
#include "engine/comm/meeting_file.h"
#include "engine/comm/sockets.h"
#include "engine/error.h"

namespace engine::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long one place is tried before the next. More from round to round: what is silent must not
// hold up the search for the right place, and a slow rank 0 must not be left too early for ever.
constexpr milliseconds kFirstPatience{250}, kLongestPatience{5000};
constexpr milliseconds kFirstPause{20}, kLongestPause{500};

struct Place {
  std::string host;
  int port = 0;

  std::string words() const { return host + " port " + std::to_string(port); }
};

// What became of a try at one place.
struct Outcome {
  std::unique_ptr<Link> link;
  std::string why;
  bool final = false;  // rank 0 of this very run says no
};

// Where rank 0 may be, by the file as it is now; `why` says what is wrong with the file.
std::vector<Place> places_of_file(const std::string& path, const std::string& nonce,
                                  std::string& why) {
  const std::optional<std::string> text = read_meeting_file(path);
  const std::optional<MeetingFile> meeting = text ? meeting_of(*text) : std::nullopt;
  if (!meeting || meeting->nonce != nonce) {
    why = "the file '" + path + "' " +
          (!text      ? "is not there"
           : !meeting ? "is not whole"
                      : "is another run's, or an earlier attempt's");
    return {};
  }
  std::vector<Place> places;
  for (const std::string& address : meeting->addresses) places.push_back({address, meeting->port});
  places.push_back({meeting->host, meeting->port});
  // Last: the other ranks cannot reach one that is known by this address.
  if (meeting->host == own_host_name()) {
    places.push_back({"127.0.0.1", meeting->port});
    places.push_back({"::1", meeting->port});
  }
  return places;
}

std::vector<Place> places_of(const MeetingPlace& meeting, const std::string& nonce,
                             std::string& why) {
  if (!meeting.file.empty()) return places_of_file(meeting.file, nonce, why);
  std::vector<Place> places;
  for (int i = 0; i < std::max(meeting.ports, 1) && meeting.port + i <= 65535; ++i) {
    places.push_back({meeting.host, meeting.port + i});
  }
  return places;
}

std::optional<Message> read_one(int socket, Deadline deadline, std::string& why) {
  FrameReader reader(kLongestGreeting);
  for (;;) {
    switch (reader.read(socket)) {
      case Read::kWhole:
        return reader.take();
      case Read::kEnded:
        why = reader.why();
        return std::nullopt;
      case Read::kTooLong:
        why = "something else listens there";
        return std::nullopt;
      case Read::kNotYet:
        break;
    }
    if (!wait_for_events(socket, POLLIN, deadline)) {
      why = "what listens there does not answer";
      return std::nullopt;
    }
  }
}

Outcome greet(Connected connected, const Place& place, const std::string& nonce, int rank,
              Deadline deadline) {
  const int socket = connected.socket.number();
  const Hello hello{.rank = rank, .nonce = nonce, .host = own_host_name()};
  std::string why;
  if (!send_bytes(socket, frame_of(message_of(hello)), kLongestPatience, why)) {
    return {.why = why};
  }
  const std::optional<Message> message = read_one(socket, deadline, why);
  if (!message) return {.why = why};
  const std::optional<Answer> answer = answer_of(*message);
  if (!answer) return {.why = "something else listens there"};
  if (answer->nonce != nonce) {
    return {.why = answer->verdict == Verdict::kWelcome ? "something else listens there"
                                                        : answer->words};
  }
  if (answer->verdict != Verdict::kWelcome) return {.why = answer->words, .final = true};
  if (!send_bytes(socket, frame_of(here_i_am()), kLongestPatience, why)) return {.why = why};
  const std::string peer = "rank 0 on " + (answer->host.empty() ? place.host : answer->host);
  return {.link = std::make_unique<Link>(connected.socket.release(), peer)};
}

Outcome try_at(const Place& place, const std::string& nonce, int rank, milliseconds patience,
               Deadline end) {
  const auto soon = [&] { return std::min(end, steady_clock::now() + patience); };
  Connected connected = connect_to(place.host, place.port, soon());
  if (!connected.socket.open()) return {.why = connected.why};
  return greet(std::move(connected), place, nonce, rank, soon());
}

[[noreturn]] void give_up(int rank, const std::string& met) {
  throw Error(ExitCode::kDeviceFault,
              "rank " + std::to_string(rank) + " does not find rank 0 of this run: " + met +
                  "; check that rank 0 is running and that its host can be reached from here");
}

}  // namespace

std::unique_ptr<Link> join(const MeetingPlace& meeting, const std::string& nonce, int rank,
                           Deadline deadline) {
  milliseconds patience = kFirstPatience, pause = kFirstPause;
  for (;;) {
    std::string met;
    for (const Place& place : places_of(meeting, nonce, met)) {
      Outcome outcome = try_at(place, nonce, rank, patience, deadline);
      if (outcome.link) return std::move(outcome.link);
      if (outcome.final) {
        throw Error(ExitCode::kDeviceFault, "rank 0 at " + place.words() + " turns rank " +
                                                std::to_string(rank) + " away: " + outcome.why);
      }
      met += (met.empty() ? "" : "; ") + place.words() + ": " + outcome.why;
    }
    if (steady_clock::now() + pause >= deadline) give_up(rank, met);
    std::this_thread::sleep_for(pause);
    patience = std::min(2 * patience, kLongestPatience);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace engine::comm
