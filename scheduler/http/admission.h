// Limits how much of the API one user may occupy, so that some is always left for the others. Pure.
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

// What all connections of one user occupy.
struct Held {
  int connections = 0;
  size_t body_bytes = 0;
  size_t files = 0;
  size_t answer_bytes = 0;
  int running = 0;       // quick requests
  int running_long = 0;  // requests that take long
};

// Why there is no room: the answer's status and sentence.
struct NoRoom {
  int status = 429;
  std::string sentence;
};

// Called for each new connection, which neither count includes yet. A few connections above the
// limits are kept for root and the daemon's user, who must be able to pause and stop.
std::optional<NoRoom> no_room_for_connection(const ServerLimits& limits, const Held& user,
                                             int all_connections, bool privileged);
// Called when a request's head or one of its files has arrived; `user` already includes it.
std::optional<NoRoom> no_room_for_request(const ServerLimits& limits, const Held& user);

// The rate of each user's requests: a burst of up to one second's worth, then evenly. A request
// above the rate waits for its turn.
class RateLimit {
 public:
  // When the next request may run; nullopt when it would wait too long; then it is not counted.
  std::optional<Time> turn(uid_t uid, Time now, int requests_per_second);
  // Forgets users without recent requests.
  void forget_quiet(Time now);

 private:
  std::map<uid_t, Time> booked_until_;
};

// A complete request that waits for a thread.
struct Waiting {
  uint64_t id = 0;  // increases in order of arrival
  uid_t uid = 0;
  Time turn{};
  bool takes_long = false;
};

// Numbers of threads for quick requests and for requests that take long, which mostly wait (for a
// file that is read, for a cluster).
struct Threads {
  int quick = 8;
  int slow = 16;
};

// The request that gets a thread next: among the users with the fewest running requests, the one
// that has waited longest. A user may occupy half of the threads for quick requests, and one of the
// others. nullopt: none can start now.
std::optional<uint64_t> next_to_run(const std::vector<Waiting>& waiting,
                                    const std::map<uid_t, Held>& users, const Threads& threads,
                                    Time now);

}  // namespace scheduler::api
