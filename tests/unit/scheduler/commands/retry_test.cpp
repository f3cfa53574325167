#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/scheduler/commands/commands_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(CommandsTest, RetryReportsWhatChangedAndTakesTheFileAsItIsNow) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kQuarantined, "bad input: cut short");
  folder_.write("a.mrc", "now it is whole");
  const auto again = retry(id);
  EXPECT_EQ(again.state, ItemState::kQueued);
  EXPECT_THAT(again.reason,
              AllOf(HasSubstr("was QUARANTINED (bad input: cut short)"), HasSubstr("to 15 bytes")));
  EXPECT_EQ(again.micrograph_bytes, 15);
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(CommandsTest, RetryOfAFileThatWasAnotherMeanwhileSaysWhatTheRetryTakes) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kQuarantined, "'a.mrc' has other content");
  EXPECT_THAT(
      retry(id).reason,
      AllOf(HasSubstr("the size, time and inode of the file passed are the registered ones"),
            Not(HasSubstr("unchanged"))));
}

TEST_F(CommandsTest, RetryOfAFileThatIsGoneIsRefused) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kFailed);
  std::filesystem::remove(folder_.file("a.mrc"));
  EXPECT_THAT(refusal<Invalid>([&] { commands_->retry(user_, id, {}); }), HasSubstr("a.mrc"));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(CommandsTest, RetryTakesNoFileFromAnotherPlace) {
  const auto id = enqueue("a.mrc").id;
  set_state(id, ItemState::kFailed);
  const RetryRequest other{.micrograph = file_facts(folder_.write("b.mrc", "other"))};
  EXPECT_THAT(refusal<Invalid>([&] { commands_->retry(user_, id, other); }),
              AllOf(HasSubstr("a.mrc"), HasSubstr("b.mrc': enqueue that file instead")));
  EXPECT_EQ(item(id).state, ItemState::kFailed);
}

TEST_F(CommandsTest, RetryTakesAFileThatWasPutInTheMicrographsPlace) {
  const auto id = enqueue("a.mrc").id;
  const auto time = std::filesystem::last_write_time(folder_.file("a.mrc"));
  std::filesystem::rename(folder_.write("new.mrc", "micrograph A.mrc"), folder_.file("a.mrc"));
  std::filesystem::last_write_time(folder_.file("a.mrc"), time);
  // Its inode has it read again.
  ticks(2);
  ASSERT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(id).reason, AllOf(HasSubstr("another file"), HasSubstr("`margay retry`")));
  EXPECT_THAT(retry(id).reason, HasSubstr("the micrograph is another file"));
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

}  // namespace
}  // namespace scheduler
