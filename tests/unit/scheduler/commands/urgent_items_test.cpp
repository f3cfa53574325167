// Who may make items urgent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/commands/commands.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::AllOf;
using testing::HasSubstr;

class UrgentItemsTest : public DaemonFixture {
 protected:
  UrgentItemsTest() {
    allowed_ = std::make_unique<Commands>(
        *database_, clock_, CommandsOptions{.urgent_allow = std::set<std::string>{"@cryoem"}});
    member_.groups = [] { return std::set<std::string>{"staff", "cryoem"}; };
    other_.groups = [] { return std::set<std::string>{"staff", "guests"}; };
    other_.group = [] { return std::string("staff"); };
    tokens_ = std::make_unique<Commands>(
        *database_, clock_,
        CommandsOptions{
            .urgent_allow = std::set<std::string>{"@cryoem"},
            .urgent_tokens = {.of_each = 1, .of_group = {{"staff", 2}, {"guests", 0}}}});
  }
  EnqueueRequest urgent(const std::string& name, Priority priority = Priority::kUrgent) {
    return {.micrograph = file_facts(folder_.write(name, name)),
            .template_name = "ribosome",
            .priority = priority};
  }
  EnqueueRequest of_group(const std::string& name, const std::string& group) {
    EnqueueRequest request = urgent(name);
    request.group = group;
    return request;
  }
  int left() const { return tokens_->urgent_right(other_).tokens.at(0).left; }
  void pass_days(int64_t days) { clock_.pass(std::chrono::hours(24 * days)); }
  // What the request is refused with.
  static std::string refused(const std::function<void()>& request) {
    try {
      request();
    } catch (const NotPermitted& error) {
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Commands> allowed_;
  std::unique_ptr<Commands> tokens_;  // allows the same, and others with tokens
  Caller member_{.uid = 1001, .name = "ann"};
  Caller other_{.uid = 1002, .name = "bob"};
  Caller root_{.uid = 0, .name = "root", .privileged = true};
};

TEST_F(UrgentItemsTest, AreForTheUsersAndGroupsThatTheSiteNames) {
  EXPECT_EQ(refused([&] { allowed_->enqueue(member_, urgent("a.mrc")); }), "");
  EXPECT_EQ(refused([&] { allowed_->enqueue(root_, urgent("b.mrc")); }), "");
  EXPECT_THAT(refused([&] { allowed_->enqueue(other_, urgent("c.mrc")); }),
              AllOf(HasSubstr("only root, the daemon's user and the members of group cryoem"),
                    HasSubstr("policy.urgent.allow"), HasSubstr("use high")));
  const auto answers = allowed_->enqueue(other_, {urgent("d.mrc"), urgent("e.mrc")});
  for (const Enqueued& answer : answers) {
    ASSERT_TRUE(answer.refused);
    EXPECT_THAT(answer.refused->what(), HasSubstr("cryoem"));
  }
  EXPECT_EQ(db::ItemStore(*database_).list({}).size(), 2U);
}

TEST_F(UrgentItemsTest, AnOwnerWithoutTheRightMayLowerAndRaiseBelowIt) {
  const auto id = allowed_->enqueue(other_, urgent("a.mrc", Priority::kNormal)).id;
  EXPECT_THAT(refused([&] { allowed_->promote(other_, id, Priority::kUrgent); }),
              HasSubstr("cryoem"));
  EXPECT_EQ(allowed_->promote(other_, id, Priority::kHigh).priority, Priority::kHigh);
  allowed_->promote(root_, id, Priority::kUrgent);
  EXPECT_EQ(refused([&] { allowed_->promote(other_, id, Priority::kUrgent); }), "")
      << "it is urgent already";
  EXPECT_EQ(allowed_->promote(other_, id, Priority::kLow).priority, Priority::kLow);
}

TEST_F(UrgentItemsTest, AreForEverybodyWhereTheSiteNamesNobody) {
  EXPECT_EQ(refused([&] { commands_->enqueue(other_, urgent("a.mrc")); }), "");
  EXPECT_EQ(commands_->urgent_right(other_).who, "everybody");
}

TEST_F(UrgentItemsTest, TakeATokenOfTheGroupWhereTheOwnerHasNoRight) {
  const auto answers =
      tokens_->enqueue(other_, {urgent("a.mrc"), urgent("b.mrc"), urgent("c.mrc")});
  EXPECT_TRUE(answers[0].item && answers[1].item);
  ASSERT_TRUE(answers[2].refused);
  EXPECT_EQ(answers[2].refused->fault(), CommandFault::kNotPermitted);
  EXPECT_THAT(answers[2].refused->what(),
              AllOf(HasSubstr("group staff has used its 2 tokens"), HasSubstr("the next one on 20"),
                    HasSubstr("only root, the daemon's user and the members of group cryoem"),
                    HasSubstr("ask one of them to promote it, or use high")));
  EXPECT_EQ(db::ItemStore(*database_).list({}).size(), 2U);
  EXPECT_EQ(refused([&] { tokens_->enqueue(member_, urgent("d.mrc")); }), "") << "needs none";
  pass_days(7);
  EXPECT_EQ(refused([&] { tokens_->enqueue(other_, urgent("c.mrc")); }), "");
  EXPECT_EQ(left(), 1);
}

TEST_F(UrgentItemsTest, OfAGroupWithoutTokensAreRefusedInItsName) {
  EXPECT_THAT(refused([&] { tokens_->enqueue(other_, of_group("a.mrc", "guests")); }),
              AllOf(HasSubstr("group guests has no tokens"), HasSubstr("policy.urgent.tokens")));
  Caller unknown{.uid = 1003, .name = "eve"};
  EXPECT_THAT(refused([&] { tokens_->enqueue(unknown, urgent("a.mrc")); }),
              HasSubstr("a group that is not known has no tokens"));
}

TEST_F(UrgentItemsTest, MayGoDownAndUpAgainWithTheSameTokenForAWeek) {
  const auto id = tokens_->enqueue(other_, urgent("a.mrc", Priority::kNormal)).id;
  EXPECT_EQ(left(), 2);
  tokens_->promote(other_, id, Priority::kUrgent);
  EXPECT_EQ(left(), 1);
  tokens_->promote(other_, id, Priority::kLow);
  tokens_->promote(other_, id, Priority::kUrgent);
  EXPECT_EQ(left(), 1);
  tokens_->promote(other_, id, Priority::kLow);
  pass_days(8);
  tokens_->promote(other_, id, Priority::kUrgent);
  EXPECT_EQ(left(), 1);
}

TEST_F(UrgentItemsTest, TakeAnotherTokenWhenTheyAreTriedAgainAfterTheWeek) {
  const auto id = tokens_->enqueue(other_, urgent("a.mrc")).id;
  const auto try_again = [&](std::optional<Priority> priority = {}) {
    db::ItemStore(*database_).set_state(id, db::ItemState::kFailed, "", 0);
    const auto path = db::ItemStore(*database_).find(id)->micrograph_path;
    tokens_->retry(other_, id, {.priority = priority, .micrograph = file_facts(path)});
  };
  try_again();
  EXPECT_EQ(left(), 1);
  pass_days(8);
  try_again();
  EXPECT_EQ(left(), 1);
  tokens_->enqueue(other_, urgent("b.mrc"));
  pass_days(6);
  tokens_->promote(root_, id, Priority::kLow);
  EXPECT_EQ(refused([&] { try_again(Priority::kUrgent); }), "") << "its token is 6 days old";
  pass_days(2);
  for (const char* name : {"c.mrc", "d.mrc"}) tokens_->enqueue(other_, urgent(name));
  EXPECT_THAT(refused([&] { try_again(); }), HasSubstr("has used its 2 tokens"));
  EXPECT_EQ(refused([&] { try_again(Priority::kHigh); }), "");
  EXPECT_EQ(db::ItemStore(*database_).find(id)->priority, Priority::kHigh);
}

TEST_F(UrgentItemsTest, ThatAnOperatorMadeUrgentNeedNoTokenToBeTriedAgain) {
  const auto id = tokens_->enqueue(other_, urgent("a.mrc", Priority::kNormal)).id;
  tokens_->promote(root_, id, Priority::kUrgent);
  db::ItemStore(*database_).set_state(id, db::ItemState::kFailed, "", 0);
  const auto path = db::ItemStore(*database_).find(id)->micrograph_path;
  tokens_->retry(other_, id, {.micrograph = file_facts(path)});
  EXPECT_EQ(left(), 2);
}

TEST_F(UrgentItemsTest, TakeNoTokenOfAGroupThatTheOwnerHasLeft) {
  other_.groups = [] { return std::set<std::string>{"staff", "tomo"}; };
  EnqueueRequest request = of_group("a.mrc", "tomo");
  request.priority = Priority::kNormal;
  const auto id = tokens_->enqueue(other_, request).id;
  other_.groups = [] { return std::set<std::string>{"staff"}; };
  EXPECT_THAT(
      refused([&] { tokens_->promote(other_, id, Priority::kUrgent); }),
      AllOf(HasSubstr("not a member of group 'tomo'"), HasSubstr("item " + std::to_string(id)),
            HasSubstr("enqueue it again for a group of yours, or use high")));
  EXPECT_EQ(db::ItemStore(*database_).find(id)->priority, Priority::kNormal);
  EXPECT_EQ(tokens_->promote(other_, id, Priority::kHigh).priority, Priority::kHigh);
  db::ItemStore(*database_).set_state(id, db::ItemState::kFailed, "", 0);
  const auto path = db::ItemStore(*database_).find(id)->micrograph_path;
  EXPECT_THAT(refused([&] {
                tokens_->retry(other_, id,
                               {.priority = Priority::kUrgent, .micrograph = file_facts(path)});
              }),
              HasSubstr("not a member of group 'tomo'"));
  other_.groups = [] { return std::set<std::string>{"staff", "tomo"}; };
  tokens_->retry(other_, id, {.priority = Priority::kUrgent, .micrograph = file_facts(path)});
  EXPECT_EQ(db::ItemStore(*database_).find(id)->priority, Priority::kUrgent);
  EXPECT_EQ(left(), 2) << "of staff";
}

TEST_F(UrgentItemsTest, CountForAGroupOfTheOwner) {
  EXPECT_EQ(commands_->enqueue(other_, urgent("a.mrc")).group, "staff");
  EXPECT_EQ(commands_->enqueue(other_, of_group("b.mrc", "guests")).group, "guests");
  EXPECT_THAT(refused([&] { commands_->enqueue(other_, of_group("c.mrc", "cryoem")); }),
              AllOf(HasSubstr("not a member of group 'cryoem'"),
                    HasSubstr("use one of yours: guests, staff")));
}

}  // namespace
}  // namespace scheduler
