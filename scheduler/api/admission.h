// How much of the API one user may have, so that there is always some left for the others. Pure.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scheduler::api {

struct ServerLimits {
  int connections = 512;          // of all users at once
  int connections_per_user = 64;  // of one user at once
  int requests_per_second = 100;  // of one user
  size_t body = 4'000'000;        // bytes of one request's body
};

using Time = std::chrono::steady_clock::time_point;

// What one user's connections hold together.
struct Held {
  int connections = 0;
  size_t body_bytes = 0;
  size_t files = 0;
  size_t answer_bytes = 0;
  int running = 0;       // quick requests
  int running_long = 0;  // those that take long
};

// Why there is no room: the status and the sentence of the answer.
struct NoRoom {
  int status = 429;
  std::string sentence;
};

// Asked for each new connection, which counts in neither number. A few above the limits are kept
// for root and the daemon's user, who must be able to pause and stop.
std::optional<NoRoom> no_room_for_connection(const ServerLimits& limits, const Held& user,
                                             int all_connections, bool privileged);
// Asked when a request's head or a file of it has arrived, which counts in `user`.
std::optional<NoRoom> no_room_for_request(const ServerLimits& limits, const Held& user);

// The rate of one user's requests: up to a second's worth at once, then evenly. A request above it
// waits for its turn.
class RateLimit {
 public:
  // When the next request may run; nullopt, and nothing counted, when it would wait too long.
  std::optional<Time> turn(uid_t uid, Time now, int requests_per_second);
  // Forgets users who have been quiet long enough.
  void forget_quiet(Time now);

 private:
  std::map<uid_t, Time> booked_until_;
};

// A whole request that waits for a thread.
struct Waiting {
  uint64_t id = 0;  // rises with its arrival
  uid_t uid = 0;
  Time turn{};
  bool takes_long = false;
};

// Threads for quick requests and for those that take long, which only wait meanwhile (for a file
// that is read, for a cluster).
struct Threads {
  int quick = 8;
  int slow = 16;
};

// The request that gets a thread next: of the users with the fewest running, the one that waits
// longest. A user may have half of the threads for quick requests, and one of the others. nullopt:
// none can start at present.
std::optional<uint64_t> next_to_run(const std::vector<Waiting>& waiting,
                                    const std::map<uid_t, Held>& users, const Threads& threads,
                                    Time now);

}  // namespace scheduler::api
