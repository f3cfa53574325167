// margay render and margay logs.
#include <gmock/gmock.h>

#include <filesystem>

#include "db/attempts.h"
#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST_F(CliTest, AScriptIsPrintedAsItIs) {
  script_.submitted = true;
  const Outcome outcome = margay({"render", "1"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.out, script_.text);
  EXPECT_EQ(outcome.error, "");
  const json document = margay({"render", "1", "--json"}).document();
  EXPECT_EQ(document.at("script"), script_.text);
  EXPECT_EQ(document.at("token"), "margay-x-1-a1");
}

TEST_F(CliTest, OneScriptIsPrintedAtATime) {
  register_template();
  enqueue("one.mrc");
  EXPECT_EQ(margay({"render", "last"}).out, script_.text);
  enqueue("two.mrc");
  const Outcome several = margay({"render", "1-2"});
  EXPECT_EQ(several.exit, 2);
  EXPECT_EQ(several.out, "");
  EXPECT_THAT(several.error, HasSubstr("2 items are selected"));
  EXPECT_EQ(margay({"render", "--label", "nothing"}).exit, 4);
}

TEST_F(CliTest, AScriptThatWasNotSubmittedIsMarkedBesideIt) {
  const Outcome outcome = margay({"render", "1", "--shape", "node"});
  EXPECT_EQ(outcome.out, script_.text);
  EXPECT_THAT(outcome.error, HasSubstr("has not been submitted"));
  EXPECT_EQ(script_requests_.back().shape, Shape::kNode);
  EXPECT_EQ(margay({"render", "1", "--shape", "round"}).exit, 2);
}

TEST_F(CliTest, TestOnlyPrintsSlurmsAnswer) {
  script_.test_only = "Job 7 to start at noon on n01";
  EXPECT_EQ(margay({"render", "1", "--test-only"}).out, "Job 7 to start at noon on n01\n");
  EXPECT_TRUE(script_requests_.back().test_only);
}

TEST_F(CliTest, LogsAreThoseOfTheAttemptThatIsAskedFor) {
  register_template();
  enqueue("one.mrc");
  EXPECT_EQ(margay({"logs", "1"}).exit, 4);
  for (const int number : {1, 2}) {
    db::Attempt attempt;
    attempt.item_id = 1;
    attempt.number = number;
    attempt.token = "t" + std::to_string(number);
    attempt.state = db::AttemptState::kFailed;
    attempt.ended = 1;
    attempt.directory = file("a" + std::to_string(number));
    std::filesystem::create_directory(attempt.directory);
    write("a" + std::to_string(number) + "/job.log", "log " + std::to_string(number) + "\n");
    db::AttemptStore(*database_).insert(attempt);
  }
  EXPECT_EQ(margay({"logs", "1", "--follow"}).out, "log 2\n");
  EXPECT_EQ(margay({"logs", "1", "--attempt", "1"}).out, "log 1\n");
  EXPECT_EQ(margay({"logs", "1", "--attempt", "3"}).exit, 4);
  EXPECT_EQ(margay({"logs", "1", "--json"}).document().at("text"), "log 2\n");
  EXPECT_EQ(margay({"logs", "last"}).out, "log 2\n");
  EXPECT_EQ(margay({"logs", file("one.mrc")}).out, "log 2\n");
}

TEST_F(CliTest, LogsOfSeveralItemsAreTitled) {
  register_template();
  for (const int64_t item : {1, 2, 3}) {
    const std::string number = std::to_string(item);
    enqueue(number + ".mrc");
    if (item == 2) continue;
    db::Attempt attempt;
    attempt.item_id = item;
    attempt.number = 1;
    attempt.token = "t" + number;
    attempt.state = db::AttemptState::kFailed;
    attempt.ended = 1;
    attempt.directory = file("log_of_" + number);
    std::filesystem::create_directory(attempt.directory);
    write("log_of_" + number + "/job.log", "log " + number + "\n");
    db::AttemptStore(*database_).insert(attempt);
  }
  const Outcome outcome = margay({"logs", "1-3"});
  EXPECT_EQ(outcome.out, "==> item 1 <==\nlog 1\n\n==> item 3 <==\nlog 3\n");
  EXPECT_THAT(outcome.error, HasSubstr("item 2"));
  EXPECT_EQ(outcome.exit, 3);
  const json logs = margay({"logs", "1,3", "--json"}).document().at("logs");
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[1].at("item"), 3);
  EXPECT_EQ(logs[1].at("text"), "log 3\n");
  const Outcome without = margay({"logs", "2,7", "--json"});
  EXPECT_EQ(without.exit, 4);
  EXPECT_TRUE(without.document().at("logs").empty());
  EXPECT_EQ(margay({"logs", "--label", "nothing", "--follow"}).out, "no items selected\n");
  const Outcome followed = margay({"logs", "1-3", "--follow"});
  EXPECT_EQ(followed.exit, 2);
  EXPECT_THAT(followed.error, HasSubstr("3 items are selected"));
}

}  // namespace
}  // namespace scheduler
