#include "scheduler/http/admission.h"

#include <algorithm>

#include "scheduler/http/unix_socket.h"

namespace scheduler::api {
namespace {

// Of one user at once, in units of the largest body and of the files of one request.
constexpr size_t kBodiesAtOnce = 8;
constexpr size_t kFilesAtOnce = 8 * kMostFilesPassed;
// While one user's clients have not taken so much, no other request of theirs is answered.
constexpr size_t kMostAnswerBytes = 32'000'000;
constexpr std::chrono::seconds kLongestTurn{5};
constexpr int kKeptForPrivileged = 8;

int running_of(const Held& user, bool takes_long) {
  return takes_long ? user.running_long : user.running;
}

}  // namespace

std::optional<NoRoom> no_room_for_connection(const ServerLimits& limits, const Held& user,
                                             int all_connections, bool privileged) {
  if (privileged && all_connections < limits.connections + kKeptForPrivileged) return std::nullopt;
  if (user.connections >= limits.connections_per_user) {
    return NoRoom{.status = 429,
                  .sentence = "you have " + std::to_string(user.connections) +
                              " connections to the daemon, as many as "
                              "limits.connections_per_user allows; end one and try again"};
  }
  if (all_connections >= limits.connections) {
    return NoRoom{.status = 503,
                  .sentence = "the daemon has " + std::to_string(all_connections) +
                              " connections, as many as limits.connections allows; try again"};
  }
  return std::nullopt;
}

std::optional<NoRoom> no_room_for_request(const ServerLimits& limits, const Held& user) {
  if (user.body_bytes > kBodiesAtOnce * limits.body) {
    return NoRoom{
        .status = 429,
        .sentence = "your requests at this moment have more than " + std::to_string(kBodiesAtOnce) +
                    " times the bytes that limits.body allows to one; send fewer at once"};
  }
  if (user.files > kFilesAtOnce) {
    return NoRoom{.status = 429,
                  .sentence = "your requests at this moment pass more than " +
                              std::to_string(kFilesAtOnce) + " open files; send fewer at once"};
  }
  return std::nullopt;
}

std::optional<Time> RateLimit::turn(uid_t uid, Time now, int requests_per_second) {
  const std::chrono::nanoseconds second = std::chrono::seconds(1);
  const std::chrono::nanoseconds share = second / requests_per_second;
  const auto found = booked_until_.find(uid);
  const Time booked = found == booked_until_.end() ? now : std::max(now, found->second);
  const Time turn = std::max(now, booked + share - second);
  if (turn - now > kLongestTurn) return std::nullopt;
  booked_until_[uid] = booked + share;
  return turn;
}

void RateLimit::forget_quiet(Time now) {
  std::erase_if(booked_until_, [now](const auto& entry) { return entry.second <= now; });
}

std::optional<uint64_t> next_to_run(const std::vector<Waiting>& waiting,
                                    const std::map<uid_t, Held>& users, const Threads& threads,
                                    Time now) {
  int busy = 0;
  int busy_long = 0;
  for (const auto& [uid, user] : users) {
    busy += user.running;
    busy_long += user.running_long;
  }
  const Waiting* next = nullptr;
  int fewest = 0;
  for (const Waiting& request : waiting) {
    const int all = request.takes_long ? threads.slow : threads.quick;
    const Held& user = users.at(request.uid);
    const int running = running_of(user, request.takes_long);
    const bool thread_is_free = (request.takes_long ? busy_long : busy) < all;
    const bool may_have_one = running < (request.takes_long ? 1 : std::max(1, all / 2));
    if (!thread_is_free || !may_have_one || request.turn > now) continue;
    if (user.answer_bytes > kMostAnswerBytes) continue;
    if (next != nullptr && (running > fewest || (running == fewest && request.id > next->id))) {
      continue;
    }
    next = &request;
    fewest = running;
  }
  return next == nullptr ? std::nullopt : std::optional(next->id);
}

}  // namespace scheduler::api
