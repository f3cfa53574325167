#include "scheduler/http/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Optional;

const Time kNow = Time(std::chrono::hours(1));

TEST(Admission, TheLimitThatIsReachedIsNamed) {
  const ServerLimits limits{.connections = 10, .connections_per_user = 3};
  EXPECT_EQ(no_room_for_connection(limits, {.connections = 2}, 9, false), std::nullopt);
  const auto user = no_room_for_connection(limits, {.connections = 3}, 3, false);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->status, 429);
  EXPECT_THAT(user->sentence, HasSubstr("limits.connections_per_user"));
  const auto all = no_room_for_connection(limits, {}, 10, false);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->status, 503);
  EXPECT_THAT(all->sentence, HasSubstr("limits.connections "));
}

TEST(Admission, RootAndTheDaemonsUserGetInWhereOthersHoldAllConnections) {
  const ServerLimits limits{.connections = 10, .connections_per_user = 3};
  EXPECT_EQ(no_room_for_connection(limits, {.connections = 3}, 10, true), std::nullopt);
  EXPECT_TRUE(no_room_for_connection(limits, {}, 18, true)) << "even they not without end";
}

TEST(Admission, EightLargestBodiesOfOneUserAtOnceAreTheMost) {
  const ServerLimits limits{.body = 100};
  EXPECT_EQ(no_room_for_request(limits, {.body_bytes = 800}), std::nullopt);
  EXPECT_TRUE(no_room_for_request(limits, {.body_bytes = 801}));
  EXPECT_EQ(no_room_for_request(limits, {.files = 2000}), std::nullopt);
  EXPECT_TRUE(no_room_for_request(limits, {.files = 2001}));
}

TEST(Admission, ASecondsWorthOfRequestsRunsAtOnceAndTheRestEvenly) {
  RateLimit rate;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rate.turn(1, kNow, 10), kNow) << i;
  EXPECT_EQ(rate.turn(1, kNow, 10), kNow + milliseconds(100));
  EXPECT_EQ(rate.turn(1, kNow, 10), kNow + milliseconds(200));
  EXPECT_EQ(rate.turn(2, kNow, 10), kNow) << "another user's";
  EXPECT_EQ(rate.turn(1, kNow + seconds(2), 10), kNow + seconds(2)) << "after a rest";
}

TEST(Admission, ARequestWhoseTurnIsFarAwayIsRefusedAndNotCounted) {
  RateLimit rate;
  while (rate.turn(1, kNow, 1)) {
  }
  EXPECT_EQ(rate.turn(1, kNow, 1), std::nullopt);
  rate.forget_quiet(kNow + seconds(1));
  EXPECT_EQ(rate.turn(1, kNow + seconds(1), 1), kNow + seconds(6)) << "still booked";
  rate.forget_quiet(kNow + seconds(100));
  EXPECT_EQ(rate.turn(1, kNow + seconds(100), 1), kNow + seconds(100));
}

TEST(Admission, TheUserWithTheFewestRunningRequestsIsNext) {
  const std::map<uid_t, Held> users = {{1, {.running = 2}}, {2, {.running = 1}}, {3, {}}};
  const Threads threads{.quick = 8, .slow = 2};
  EXPECT_THAT(next_to_run({{.id = 1, .uid = 1}, {.id = 2, .uid = 2}}, users, threads, kNow),
              Optional(2U));
  EXPECT_THAT(next_to_run({{.id = 5, .uid = 3}, {.id = 4, .uid = 3}}, users, threads, kNow),
              Optional(4U))
      << "of one user, the one that came first";
}

TEST(Admission, AUserHasAtMostHalfOfTheThreads) {
  const Threads threads{.quick = 8, .slow = 2};
  const auto next = [&](const Held& user, bool takes_long) {
    return next_to_run({{.id = 1, .uid = 1, .takes_long = takes_long}}, {{1, user}}, threads, kNow);
  };
  EXPECT_TRUE(next({.running = 3}, false));
  EXPECT_FALSE(next({.running = 4}, false));
  EXPECT_TRUE(next({.running = 4}, true));
  EXPECT_FALSE(next({.running_long = 1}, true));
  EXPECT_TRUE(next({.running_long = 1}, false));
}

TEST(Admission, NothingStartsWithoutAFreeThread) {
  const std::map<uid_t, Held> users = {{1, {.running = 4}}, {2, {.running = 4}}, {3, {}}};
  EXPECT_FALSE(next_to_run({{.id = 1, .uid = 3}}, users, {.quick = 8, .slow = 2}, kNow));
}

TEST(Admission, ARequestWaitsForItsTurnAndForAnswersToBeTaken) {
  const std::map<uid_t, Held> users = {{1, {}}, {2, {.answer_bytes = 40'000'000}}};
  const Threads threads;
  EXPECT_FALSE(next_to_run({{.id = 1, .uid = 1, .turn = kNow + seconds(1)}}, users, threads, kNow));
  EXPECT_FALSE(next_to_run({{.id = 1, .uid = 2}}, users, threads, kNow));
}

}  // namespace
}  // namespace scheduler::api
