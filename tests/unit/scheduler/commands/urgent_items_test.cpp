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
    other_.groups = [] { return std::set<std::string>{"staff"}; };
  }
  EnqueueRequest urgent(const std::string& name, Priority priority = Priority::kUrgent) {
    return {.micrograph = file_facts(folder_.write(name, name)),
            .template_name = "ribosome",
            .priority = priority};
  }
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

}  // namespace
}  // namespace scheduler
