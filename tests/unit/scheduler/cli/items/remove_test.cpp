#include <gmock/gmock.h>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using db::ItemState;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RemoveCliTest : public CliTest {
 protected:
  RemoveCliTest() { register_template(); }
  std::string ended(const std::string& name, ItemState state = ItemState::kFailed) {
    const int64_t id = enqueue(name);
    set_state(id, state);
    return std::to_string(id);
  }
  int64_t count() const { return static_cast<int64_t>(db::ItemStore(*database_).list({}).size()); }
};

TEST_F(RemoveCliTest, RemovesWhatWasNamedAndSaysSo) {
  const std::string first = ended("a.mrc");
  const std::string second = ended("b.mrc", ItemState::kDone);
  const Outcome dry = margay({"remove", first + "-" + second, "--dry-run"});
  EXPECT_EQ(dry.exit, 0);
  EXPECT_THAT(dry.out, AllOf(HasSubstr("item " + first + " would be removed (FAILED)"),
                             HasSubstr("2 would be removed; nothing was changed")));
  EXPECT_EQ(count(), 2);
  const Outcome removed = margay({"remove", first + "-" + second});
  EXPECT_EQ(removed.exit, 0);
  EXPECT_THAT(removed.out,
              AllOf(HasSubstr("item " + second + " removed (DONE)"), HasSubstr("2 removed")));
  EXPECT_EQ(count(), 0);
  const Outcome shown = margay({"show", first});
  EXPECT_EQ(shown.exit, 4);
  EXPECT_THAT(shown.error, HasSubstr("it was removed by"));
  EXPECT_EQ(margay({"list"}).exit, 0);
}

TEST_F(RemoveCliTest, RefusesALiveItemAndRemovesTheOthers) {
  const std::string live = std::to_string(enqueue("a.mrc"));
  const std::string failed = ended("b.mrc");
  const Outcome outcome = margay({"remove", live, failed});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("(QUEUED) has not ended: cancel it first"),
                                   HasSubstr("margay cancel " + live)));
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(margay({"remove", live}).exit, 6);
}

TEST_F(RemoveCliTest, TakesOfAllOnlyThoseThatHaveEnded) {
  enqueue("a.mrc");
  ended("b.mrc");
  const std::string done = ended("c.mrc", ItemState::kDone);
  EXPECT_THAT(margay({"remove", "all", "--state", "done"}).out, HasSubstr("item " + done));
  EXPECT_EQ(margay({"remove", "all"}).exit, 0);
  EXPECT_EQ(count(), 1);
  EXPECT_THAT(margay({"remove", "all"}).out, HasSubstr("no items selected"));
  EXPECT_EQ(margay({"remove"}).exit, 2);
}

TEST_F(RemoveCliTest, IsAnAddressOfEachItemToo) {
  const std::string item = ended("a.mrc");
  EXPECT_EQ(post("/v1/items/" + item + "/remove", {{"results", 1}}).at("status"), 400);
  const auto answer = post("/v1/items/" + item + "/remove", {{"results", true}});
  EXPECT_EQ(answer.at("status"), 200);
  EXPECT_EQ(answer.at("item").at("state"), "FAILED");
  EXPECT_EQ(post("/v1/items/" + item + "/remove", nlohmann::json::object()).at("status"), 404);
  EXPECT_EQ(post("/v1/changes", {{"action", "remove"}, {"items", nlohmann::json::array({item})}})
                .at("status"),
            400);
}

}  // namespace
}  // namespace scheduler
