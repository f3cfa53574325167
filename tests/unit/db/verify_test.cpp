#include "db/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/read_file.h"
#include "db/backup.h"
#include "db/results.h"
#include "db/schema.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class VerifyTest : public StoresTest {
 protected:
  Attempt add_own_attempt(int64_t item, int number, AttemptState state) {
    Attempt attempt{.item_id = item,
                    .number = number,
                    .token = make_token(database_.instance(), item, number),
                    .state = state,
                    .job_id = state == AttemptState::kRunning ? "7" : ""};
    attempt.id = attempts_.insert(attempt);
    return attempt;
  }
  int64_t add_running() {
    const int64_t item = add_item("/running", ItemState::kActive);
    add_own_attempt(item, 1, AttemptState::kFailed);
    add_own_attempt(item, 2, AttemptState::kRunning);
    return item;
  }
  int64_t add_done() {
    const int64_t item = add_item("/done", ItemState::kDone);
    const Attempt attempt = add_own_attempt(item, 1, AttemptState::kDone);
    ResultStore(database_).insert({.item_id = item, .attempt_id = attempt.id});
    return item;
  }
  void run(const std::string& sql) { database_.connection().execute(sql); }
  Verification found() { return verify_database(database_.path()); }
  // What the only problem says.
  std::string problem() {
    const Verification verification = found();
    if (verification.problems.size() != 1) {
      return std::to_string(verification.problems.size()) + " problems";
    }
    EXPECT_FALSE(verification.problems.front().advice.empty());
    return verification.problems.front().says;
  }
};

TEST_F(VerifyTest, AQueueAtWorkHasNoProblemAndIsCounted) {
  add_running();
  add_done();
  add_item("/queued");
  const Verification verification = found();
  EXPECT_THAT(verification.problems, IsEmpty());
  EXPECT_EQ(verification.schema, newest_schema());
  EXPECT_EQ(verification.instance, database_.instance());
  EXPECT_EQ(verification.items, 3);
  EXPECT_THAT(verification.item_states,
              ElementsAre(Pair("ACTIVE", 1), Pair("DONE", 1), Pair("QUEUED", 1)));
  EXPECT_EQ(verification.attempts, 3);
  EXPECT_EQ(verification.open_attempts, 1);
  EXPECT_EQ(verification.results, 1);
  EXPECT_EQ(verification.templates, 1);
}

TEST_F(VerifyTest, ACopyIsVerifiedAndNotChanged) {
  add_running();
  const std::string copy = folder_.file("copy.db");
  copy_database(database_.connection(), copy);
  const auto before = base::read_file(copy);
  EXPECT_THAT(verify_database(copy).problems, IsEmpty());
  EXPECT_EQ(base::read_file(copy), before);
}

TEST_F(VerifyTest, AnActiveItemNeedsOneOpenAttemptAndNoOtherItemHasOne) {
  const int64_t item = add_running();
  run("UPDATE attempts SET state = 'LOST' WHERE number = 2");
  EXPECT_THAT(problem(), AllOf(HasSubstr("item " + std::to_string(item)), HasSubstr("ACTIVE")));
  run("UPDATE attempts SET state = 'RUNNING' WHERE number = 2");
  run("UPDATE items SET state = 'QUEUED'");
  EXPECT_THAT(problem(), HasSubstr("is RUNNING, but its item is QUEUED"));
}

TEST_F(VerifyTest, OnlyTheNewestAttemptIsOpen) {
  add_running();
  run("UPDATE attempts SET state = 'RUNNING', job_id = '6' WHERE number = 1");
  const auto problems = found().problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].says, HasSubstr("has 2 attempts that are open"));
  EXPECT_THAT(problems[1].says, HasSubstr("is not the newest of its item"));
}

TEST_F(VerifyTest, AJobThatIsKnownHasANumberAndAnAttemptItsOwnToken) {
  add_running();
  run("UPDATE attempts SET job_id = ''");
  EXPECT_THAT(problem(), HasSubstr("is RUNNING, but has no job"));
  run("UPDATE attempts SET state = 'UNKNOWN' WHERE number = 2");
  EXPECT_EQ(problem(), "0 problems") << "its submission got no answer yet";
  run("UPDATE attempts SET token = 'margay-other-1-a1' WHERE number = 1");
  EXPECT_THAT(problem(), HasSubstr("'margay-other-1-a1'"));
}

TEST_F(VerifyTest, AResultIsThatOfADoneAttemptAtItsDoneItem) {
  const int64_t item = add_done();
  run("UPDATE items SET state = 'FAILED'");
  EXPECT_THAT(problem(),
              HasSubstr("item " + std::to_string(item) + " has a result, but is FAILED"));
  run("UPDATE items SET state = 'DONE'");
  run("UPDATE attempts SET state = 'LOST'");
  EXPECT_THAT(problem(), HasSubstr("that is LOST"));
  run("DELETE FROM results");
  EXPECT_THAT(problem(), HasSubstr("is DONE without a result"));
}

TEST_F(VerifyTest, UnknownWordsRowsWithoutTheirItemAndNumbersThatReturnAreNamed) {
  const int64_t item = add_item("/a");
  run("UPDATE items SET priority = 'soon'");
  EXPECT_THAT(problem(), HasSubstr("unknown priority 'soon'"));
  run("UPDATE items SET priority = 'low'");
  run("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'items'");
  EXPECT_THAT(problem(), AllOf(HasSubstr("table items"), HasSubstr(std::to_string(item))));
  run("UPDATE sqlite_sequence SET seq = 9 WHERE name = 'items'");
  add_own_attempt(item, 1, AttemptState::kFailed);
  run("PRAGMA foreign_keys = OFF");
  run("DELETE FROM items");
  EXPECT_THAT(problem(), HasSubstr("refers to a row of table items that is not there"));
}

TEST_F(VerifyTest, OfManyProblemsOfAKindTheFirstOnesAreShown) {
  for (int i = 0; i < 15; ++i) add_item("/" + std::to_string(i), ItemState::kActive);
  const auto problems = found().problems;
  ASSERT_EQ(problems.size(), 11U);
  EXPECT_THAT(problems.back().says, HasSubstr("more"));
}

TEST_F(VerifyTest, FilesThatAreDamagedNewerOrOfOthersAreProblems) {
  const std::string text = folder_.write("text", std::string(8192, 'x'));
  EXPECT_THAT(verify_database(text).problems.at(0).says, HasSubstr("not a database"));
  const std::string empty = folder_.write("empty", "");
  EXPECT_THAT(verify_database(empty).problems.at(0).says, HasSubstr("no database of margayd"));
  run("PRAGMA user_version = 99");
  EXPECT_THAT(problem(), AllOf(HasSubstr("version 99"), HasSubstr("up to ")));
  EXPECT_THROW(verify_database(folder_.file("none")), DatabaseError);
}

TEST_F(VerifyTest, APageThatWasOverwrittenIsFound) {
  {
    Transaction transaction(database_);
    for (int i = 0; i < 2000; ++i) add_item("/long/path/of/a/micrograph/" + std::to_string(i));
    transaction.commit();
  }
  const std::string copy = folder_.file("copy.db");
  copy_database(database_.connection(), copy);
  std::string bytes = base::read_file(copy).value();
  for (size_t at = bytes.size() / 2; at < bytes.size() / 2 + 8192; ++at) bytes[at] = 'x';
  const std::string damaged = folder_.write("damaged.db", bytes);
  EXPECT_THAT(verify_database(damaged).problems, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace db
