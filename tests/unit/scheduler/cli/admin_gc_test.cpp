#include <gmock/gmock.h>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class GcCliTest : public CliTest {
 protected:
  GcCliTest() {
    gc_ = [this](bool dry_run) {
      dry_runs_.push_back(dry_run);
      GcReport report;
      report.freed[GcKind::kAge] = {.count = 12, .bytes = 1'200'000'000};
      report.freed[GcKind::kHistory] = {.count = 345};
      report.left = {"2 folders without a record"};
      return report;
    };
  }

  std::vector<bool> dry_runs_;
};

TEST_F(GcCliTest, PrintsATableOfWhatWasFreed) {
  const Outcome outcome = margay({"admin", "gc"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(dry_runs_, std::vector<bool>{false});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("REMOVED"), HasSubstr("items that ended long ago"), HasSubstr("12"),
                    HasSubstr("1.2 GB"), HasSubstr("345"), HasSubstr("together"),
                    HasSubstr("not removed: 2 folders without a record"),
                    Not(HasSubstr("nothing was removed"))));
}

TEST_F(GcCliTest, OfADryRunItSaysThatNothingWasRemoved) {
  const Outcome outcome = margay({"admin", "gc", "--dry-run"});
  EXPECT_EQ(outcome.exit, 0) << outcome.error;
  EXPECT_EQ(dry_runs_, std::vector<bool>{true});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("WOULD FREE"), HasSubstr("nothing was removed")));
  const auto document = margay({"admin", "gc", "--dry-run", "--json"}).document();
  EXPECT_EQ(document.at("dry_run"), true);
  EXPECT_EQ(document.at("freed").at("age").at("bytes"), 1'200'000'000);
  EXPECT_EQ(document.at("freed").at("no_record").at("count"), 0);
  EXPECT_EQ(document.at("left").at(0).at("text"), "2 folders without a record");
}

TEST_F(GcCliTest, IsForOperatorsAlone) {
  const int exit = as_nobody([this] { return margay({"admin", "gc", "--dry-run"}).exit; });
  if (exit == -1) GTEST_SKIP() << "only root can take the rights of nobody";
  EXPECT_EQ(exit, 5);
  EXPECT_TRUE(dry_runs_.empty());
}

TEST_F(GcCliTest, RefusesWhatIsNoCommandOfTheAdministrator) {
  EXPECT_EQ(margay({"admin", "gd"}).exit, 2);
  EXPECT_EQ(post("/v1/gc", {{"dry_run", "yes"}}).at("status"), 400);
  gc_ = [](bool) -> GcReport { throw Unavailable("the folder of jobs is away"); };
  const Outcome outcome = margay({"admin", "gc"});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.error, HasSubstr("the folder of jobs is away"));
}

}  // namespace
}  // namespace scheduler
