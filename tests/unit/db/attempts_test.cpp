#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/unit/db/full_attempt.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

auto fields(const Attempt& attempt) {
  return std::tuple(std::tuple(attempt.item_id, attempt.number, attempt.token, attempt.shape,
                               attempt.explanation, attempt.script_sha256, attempt.config_sha256,
                               attempt.directory, attempt.resume_from, attempt.gpus, attempt.nodes,
                               attempt.gpus_per_node, attempt.created),
                    attempt.state, attempt.cause, attempt.message, attempt.job_id, attempt.host,
                    attempt.exit_code, attempt.cluster_words, attempt.cluster_reason,
                    attempt.restarts, attempt.release_due, attempt.stop_asked, attempt.submitted,
                    attempt.started, attempt.ended);
}

TEST_F(StoresTest, AnUpdateStoresEachFieldOfAnAttemptThatMayChange) {
  const int64_t item = add_item("/a");
  const Attempt before = full_attempt(item, 0);
  const int64_t id = attempts_.insert(before);
  EXPECT_EQ(fields(*attempts_.find(id)), fields(before));
  Attempt after = full_attempt(item, 1);
  after.id = id;
  ASSERT_TRUE(attempts_.update(after));
  EXPECT_EQ(fields(*attempts_.find(id)), fields(after));
}

TEST_F(StoresTest, AnUpdateLeavesTheRestOfAnAttemptAlone) {
  const Attempt before = full_attempt(add_item("/a"), 0);
  Attempt other = before;
  other.id = attempts_.insert(before);
  other.item_id = add_item("/b");
  other.number = other.gpus = other.nodes = other.gpus_per_node = 9;
  other.token = other.shape = other.explanation = other.script = other.script_sha256 = "other";
  other.config_sha256 = other.directory = other.resume_from = "other";
  other.created = 9;
  ASSERT_TRUE(attempts_.update(other));
  EXPECT_EQ(fields(*attempts_.find(other.id)), fields(before));
  EXPECT_EQ(attempts_.script(other.id), "#!/bin/sh");
}

TEST_F(StoresTest, AnEndedAttemptNeverChangesAgain) {
  Attempt attempt = add_attempt(add_item("/a"), 1);
  attempt.state = AttemptState::kLost;
  attempt.cause = "vanished";
  EXPECT_TRUE(attempts_.update(attempt));
  attempt.state = AttemptState::kDone;
  EXPECT_FALSE(attempts_.update(attempt));
  EXPECT_EQ(attempts_.find(attempt.id)->state, AttemptState::kLost);
}

TEST_F(StoresTest, OpenAttemptsAreThoseThatHaveNotEnded) {
  const auto item = add_item("/a");
  Attempt first = add_attempt(item, 1);
  first.state = AttemptState::kFailed;
  first.exit_code = 70;
  attempts_.update(first);
  const Attempt second = add_attempt(item, 2);
  ASSERT_EQ(attempts_.open().size(), 1u);
  EXPECT_EQ(attempts_.open()[0].token, second.token);
  EXPECT_EQ(attempts_.newest_of_item(item)->number, 2);
  EXPECT_EQ(attempts_.of_item(item)[0].exit_code, 70);
  EXPECT_FALSE(attempts_.of_item(item)[1].exit_code);
  ASSERT_EQ(attempts_.ended_not_forgotten().size(), 1u);
  attempts_.mark_forgotten(first.id);
  EXPECT_TRUE(attempts_.ended_not_forgotten().empty());
}

TEST_F(StoresTest, ATokenIsUniqueForEver) {
  const auto item = add_item("/a");
  add_attempt(item, 1);
  EXPECT_THROW(attempts_.insert({.item_id = item, .number = 2, .token = "t-1-1"}), DatabaseError);
}

}  // namespace
}  // namespace db
