// Rows of the database with words that this version does not know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

class UnreadableRowsTest : public DaemonFixture {
 protected:
  // As somebody with another program.
  void edit(const std::string& sql) {
    daemon_.reset();
    commands_.reset();
    database_.reset();
    db::Connection(config_.database()).execute(sql);
    restart();
  }
  std::vector<int64_t> listed() {
    std::vector<int64_t> ids;
    for (const db::Item& item : db::ItemStore(*database_).list({})) ids.push_back(item.id);
    return ids;
  }
};

TEST_F(UnreadableRowsTest, AnItemWithAnUnknownWordStopsNobodyElse) {
  config_.local.slots = 4;
  restart();
  const auto asleep = enqueue("a.mrc").id;
  const auto dear = enqueue("b.mrc").id;
  const auto sound = enqueue("c.mrc").id;
  edit("UPDATE items SET state = 'ASLEEP' WHERE id = " + std::to_string(asleep) +
       "; UPDATE items SET priority = 'dear' WHERE id = " + std::to_string(dear));
  ticks(2);
  EXPECT_EQ(attempt(sound).state, AttemptState::kRunning);
  EXPECT_THAT(cluster_.jobs, SizeIs(1));
  EXPECT_EQ(listed(), std::vector<int64_t>{sound});
  EXPECT_THAT(
      daemon_->status().problem,
      AllOf(HasSubstr("table items, id " + std::to_string(asleep) + ": unknown state 'ASLEEP'"),
            HasSubstr("unknown priority 'dear'"), HasSubstr("left out of the queue")));
  EXPECT_THAT(log_, Contains(HasSubstr("unknown state 'ASLEEP'")));
  EXPECT_THROW(commands_->show(asleep), db::UnreadableRow);
  EXPECT_EQ(commands_->show(sound).item.state, ItemState::kActive);
  finish(attempt(sound));
  ticks(1);
  EXPECT_EQ(item(sound).state, ItemState::kDone);
}

TEST_F(UnreadableRowsTest, AnAttemptWithAnUnknownWordStopsNobodyElse) {
  config_.local.slots = 4;
  restart();
  const auto dreams = enqueue("a.mrc").id;
  const auto sound = enqueue("b.mrc").id;
  ticks(2);
  edit("UPDATE attempts SET state = 'DREAMING' WHERE item_id = " + std::to_string(dreams));
  finish(attempt(sound));
  ticks(1);
  EXPECT_EQ(item(sound).state, ItemState::kDone);
  EXPECT_THAT(daemon_->status().problem,
              HasSubstr("table attempts, id 1: unknown state 'DREAMING'"));
  EXPECT_EQ(listed(), (std::vector<int64_t>{dreams, sound}));
  EXPECT_THROW(commands_->show(dreams), db::UnreadableRow);
}

TEST_F(UnreadableRowsTest, ARowThatWasCorrectedIsAnItemAgain) {
  const auto id = enqueue("a.mrc").id;
  edit("UPDATE items SET priority = 'dear'");
  ticks(1);
  EXPECT_FALSE(daemon_->status().problem.empty());
  edit("UPDATE items SET priority = 'low'");
  ticks(2);
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(attempt(id).state, AttemptState::kRunning);
}

}  // namespace
}  // namespace scheduler
