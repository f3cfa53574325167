#include "db/restored.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "db/removed.h"
#include "db/verify.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class RestoredTest : public StoresTest {
 protected:
  Attempt add(int64_t item, int number, AttemptState state) {
    Attempt attempt{.item_id = item,
                    .number = number,
                    .token = make_token(database_.instance(), item, number),
                    .state = state,
                    .job_id = "5"};
    attempt.id = attempts_.insert(attempt);
    return attempt;
  }
  static FoundAttempt folder_of(int64_t item, int number) {
    return {.item_id = item,
            .number = number,
            .directory = "/jobs/x",
            .script = "#!/bin/sh\n",
            .script_sha256 = "s",
            .config_sha256 = "c",
            .nodes = 2,
            .gpus = 8,
            .created = 50};
  }
};

TEST_F(RestoredTest, TheNewestAttemptsAreKnownAndDoneItemsGetNone) {
  const int64_t active = add_item("/a", ItemState::kActive);
  add(active, 1, AttemptState::kFailed);
  add(active, 2, AttemptState::kRunning);
  const int64_t queued = add_item("/b");
  const int64_t done = add_item("/c", ItemState::kDone);
  EXPECT_THAT(
      newest_attempts(database_.connection()),
      ElementsAre(Pair(active, 2), Pair(queued, 0), Pair(done, std::numeric_limits<int>::max())));
  EXPECT_EQ(highest_item(database_.connection()), done);
}

TEST_F(RestoredTest, AnItemThatWasRemovedIsKnown) {
  const int64_t removed = add_item("/a", ItemState::kDone);
  RemovedItemStore(database_).remove(removed, 1, "user", "/jobs/1/a1");
  EXPECT_THAT(newest_attempts(database_.connection()),
              ElementsAre(Pair(removed, std::numeric_limits<int>::max())));
}

TEST_F(RestoredTest, AFoundAttemptIsOpenWithoutAnAnswerAndItsItemActive) {
  const int64_t item = add_item("/a");
  add_found_attempts(database_.connection(), {folder_of(item, 3)}, 41, 100);
  const Attempt attempt = attempts_.newest_of_item(item).value();
  EXPECT_EQ(attempt.number, 3);
  EXPECT_EQ(attempt.token, make_token(database_.instance(), item, 3));
  EXPECT_EQ(attempt.state, AttemptState::kUnknown);
  EXPECT_EQ(attempt.directory, "/jobs/x");
  EXPECT_EQ(attempt.config_sha256, "c");
  EXPECT_EQ(attempt.submitted, 50);
  EXPECT_EQ(attempt.nodes, 2);
  EXPECT_EQ(attempt.gpus_per_node, 4);
  EXPECT_TRUE(attempt.release_due) << "a wide job is submitted held";
  EXPECT_EQ(attempts_.script(attempt.id), "#!/bin/sh\n");
  EXPECT_EQ(items_.find(item)->state, ItemState::kActive);
  EXPECT_THAT(items_.find(item)->reason, HasSubstr("restored"));
  EXPECT_EQ(add_item("/next"), 42) << "numbers of lost items do not return";
  EXPECT_THAT(verify_database(database_.path()).problems, IsEmpty());
}

TEST_F(RestoredTest, OfSeveralOnlyTheNewestIsOpen) {
  const int64_t item = add_item("/a", ItemState::kActive);
  const Attempt known = add(item, 1, AttemptState::kRunning);
  const int64_t other = add_item("/b", ItemState::kActive);
  add(other, 1, AttemptState::kRunning);
  add_found_attempts(database_.connection(), {folder_of(item, 2), folder_of(item, 4)}, 0, 100);
  std::vector<AttemptState> states;
  for (const Attempt& attempt : attempts_.of_item(item)) states.push_back(attempt.state);
  EXPECT_THAT(states,
              ElementsAre(AttemptState::kLost, AttemptState::kLost, AttemptState::kUnknown));
  EXPECT_EQ(attempts_.find(known.id)->ended, 100);
  EXPECT_EQ(attempts_.open_of_item(other)->state, AttemptState::kRunning);
  EXPECT_THAT(verify_database(database_.path()).problems, IsEmpty());
}

}  // namespace
}  // namespace db
