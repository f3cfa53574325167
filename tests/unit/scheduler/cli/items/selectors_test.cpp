#include "scheduler/cli/items/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/scheduler/cli/cli_fixture.h"

namespace scheduler {
namespace {

using cli::parse_words;
using db::ItemState;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(ParseWords, TellsNumbersRangesAndFilesApart) {
  const auto parsed =
      parse_words({"1-3,31", "7", "last", "a.mrc", "all", "12a", "grid-1/b.mrc", "0"});
  EXPECT_THAT(parsed.numbers, ElementsAre(31, 7));
  EXPECT_THAT(parsed.ranges, ElementsAre(Pair(1, 3)));
  EXPECT_THAT(parsed.files, ElementsAre("a.mrc", "12a", "grid-1/b.mrc", "0"));
  EXPECT_TRUE(parsed.last && parsed.all);
}

TEST(ParseWords, RefusesARangeThatEndsBeforeItBegins) {
  EXPECT_THROW(parse_words({"5-3"}), cli::Failure);
  EXPECT_THAT(parse_words({"5-5"}).ranges, ElementsAre(Pair(5, 5)));
}

class SelectorsTest : public CliTest {
 protected:
  SelectorsTest() {
    register_template();
    enqueue_labelled("a.mrc", "grid1");
    enqueue_labelled("b.mrc", "grid1");
    enqueue_labelled("c.mrc", "grid2");
    enqueue_labelled("d.mrc", "grid2");
  }
  void enqueue_labelled(const std::string& name, const std::string& label) {
    ASSERT_EQ(
        enqueue_files({write(name)}, {"--defocus-u", "1e4", "--defocus-v", "1e4", "--label", label})
            .exit,
        0);
  }
  // The items that a dry run of cancel names.
  std::vector<int64_t> selected(Words words) const {
    words.insert(words.begin(), {"cancel", "--dry-run", "--json"});
    const Outcome outcome = margay(words);
    EXPECT_EQ(outcome.exit, 0) << outcome.error;
    std::vector<int64_t> ids;
    const nlohmann::json document = outcome.document();
    for (const nlohmann::json& entry : document.at("items")) ids.push_back(entry.at("id"));
    return ids;
  }
  ItemState state_of(int64_t item) const { return db::ItemStore(*database_).find(item)->state; }
};

TEST_F(SelectorsTest, SelectByNumberRangeLastAllAndFileName) {
  EXPECT_THAT(selected({"3", "1-2"}), ElementsAre(3, 1, 2));
  EXPECT_THAT(selected({"2-99,1,2"}), ElementsAre(1, 2, 3, 4)) << "what is not there is no error";
  EXPECT_THAT(selected({"last"}), ElementsAre(4));
  EXPECT_THAT(selected({"all"}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(selected({file("b.mrc")}), ElementsAre(2));
  EXPECT_THAT(selected({"c.mrc"}), ElementsAre(3)) << "by name alone";
  EXPECT_THAT(selected({"a.mrc", "b.mrc", "c.mrc", file("d.mrc"), "2"}), ElementsAre(2, 1, 3, 4))
      << "several files are found in one list";
}

TEST_F(SelectorsTest, SelectByWhatItemsHaveInCommon) {
  EXPECT_THAT(selected({"--label", "grid2"}), ElementsAre(3, 4));
  EXPECT_THAT(selected({"1-3", "--label", "grid2"}), ElementsAre(3));
  EXPECT_THAT(selected({"1", "3", "--label", "grid2"}), ElementsAre(3));
  EXPECT_THAT(selected({"--template", "ribosome"}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(selected({"--template", "ribosome@1", "--mine"}), ElementsAre(1, 2, 3, 4));
  set_state(2, ItemState::kHeld);
  EXPECT_THAT(selected({"--state", "held"}), ElementsAre(2));
  EXPECT_THAT(selected({"--owner", "nobody"}), ElementsAre());
  EXPECT_THAT(selected({"all", "--priority", "urgent"}), ElementsAre());
}

TEST_F(SelectorsTest, WhatChangesItemsTakesOfAllOnlyTheOwnOnesThatItMayConcern) {
  db::Item foreign = *db::ItemStore(*database_).find(1);
  foreign.owner_uid = 4711;
  foreign.owner = "ann";
  foreign.repeat = 1;
  const int64_t id = db::ItemStore(*database_).insert(foreign);
  set_state(2, ItemState::kDone);
  EXPECT_THAT(selected({"all"}), ElementsAre(1, 3, 4));
  EXPECT_THAT(selected({"--label", "grid1"}), ElementsAre(1));
  EXPECT_THAT(selected({"--owner", "ann"}), ElementsAre(id));
  EXPECT_THAT(margay({"show", "--label", "grid1", "--json"}).document().at("items").size(), 3U)
      << "what only reads takes all";
}

TEST_F(SelectorsTest, WhatIsNotThereIsNotFoundAndNothingIsAUsageError) {
  const Outcome file = margay({"cancel", "x.mrc"});
  EXPECT_EQ(file.exit, 4);
  EXPECT_THAT(file.error, HasSubstr("no item of 'x.mrc'; name items by number (1-20,31)"));
  EXPECT_EQ(margay({"cancel", "x.mrc", "a.mrc", "b.mrc", "c.mrc", "d.mrc"}).exit, 4);
  EXPECT_EQ(margay({"cancel", "--template", "virus"}).exit, 4);
  EXPECT_EQ(margay({"cancel"}).exit, 2);
  EXPECT_EQ(margay({"cancel", "--mine", "--owner", "ann"}).exit, 2);
  EXPECT_EQ(margay({"cancel", "last", "--label", "none"}).exit, 4);
  EXPECT_EQ(margay({"cancel", "--label", "none"}).out, "no items selected\n");
}

TEST_F(SelectorsTest, ManyItemsAreChangedInOneTransactionAndEachOutcomeIsSaid) {
  set_state(2, ItemState::kDone);
  commits_ = 0;
  const Outcome outcome = margay({"hold", "1-3", "99"});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_EQ(commits_, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("item 1: HELD"), HasSubstr("item 3: HELD"),
                                 HasSubstr("2 changed, 2 refused")));
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("item 2 (DONE): only a waiting item"), HasSubstr("no item 99")));
  EXPECT_EQ(state_of(1), ItemState::kHeld);
  EXPECT_EQ(state_of(4), ItemState::kQueued);
}

TEST_F(SelectorsTest, ADryRunSaysTheSameAndChangesNothing) {
  const Outcome outcome = margay({"cancel", "--label", "grid1", "--dry-run"});
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("item 1 would be: CANCELLED"),
                                 HasSubstr("2 would be changed; nothing was changed")));
  EXPECT_EQ(state_of(1), ItemState::kQueued);
  EXPECT_EQ(margay({"release", "1", "--dry-run"}).exit, 0);
  set_state(1, ItemState::kFailed);
  EXPECT_THAT(margay({"retry", "1", "--dry-run"}).out, HasSubstr("item 1 would be: QUEUED"));
  EXPECT_EQ(state_of(1), ItemState::kFailed);
}

TEST_F(SelectorsTest, SeveralItemsAreTriedAgainTheReadableOnesAtLeast) {
  for (const int64_t item : {1, 2, 3}) set_state(item, ItemState::kFailed);
  std::filesystem::remove(file("b.mrc"));
  const Outcome outcome = margay({"retry", "all"});
  EXPECT_EQ(outcome.exit, 3);
  EXPECT_THAT(outcome.error, HasSubstr("b.mrc: cannot open it"));
  EXPECT_EQ(state_of(1), ItemState::kQueued);
  EXPECT_EQ(state_of(2), ItemState::kFailed);
  EXPECT_EQ(state_of(3), ItemState::kQueued);
}

TEST_F(SelectorsTest, DemoteLowersAndNeverRaises) {
  EXPECT_THAT(margay({"demote", "1"}).out, HasSubstr("QUEUED, low"));
  const Outcome raised = margay({"demote", "1", "--priority", "high"});
  EXPECT_EQ(raised.exit, 6);
  EXPECT_THAT(raised.error, HasSubstr("has priority low, which high would raise: use promote"));
  EXPECT_EQ(margay({"demote", "2", "--priority", "urgent"}).exit, 2);
}

TEST_F(SelectorsTest, CommandsThatReadTakeSeveralItemsAndSayWhichAreNotThere) {
  const Outcome shown = margay({"show", "1", "99", "2"});
  EXPECT_EQ(shown.exit, 3);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("a.mrc"), HasSubstr("b.mrc"), Not(HasSubstr("c.mrc"))));
  EXPECT_THAT(shown.error, HasSubstr("no item 99"));
  EXPECT_THAT(margay({"explain", "--label", "grid2"}).out,
              AllOf(HasSubstr("item 3, normal"), HasSubstr("item 4, normal")));
  EXPECT_EQ(margay({"results", "1-2"}).exit, 4) << "none of both has one";
  for (const int64_t item : {1, 2, 3, 4}) set_state(item, ItemState::kDone);
  EXPECT_THAT(margay({"wait", "1-2,4"}).out, HasSubstr("3 of 3 done"));
  EXPECT_THAT(margay({"wait", "all"}).out, HasSubstr("nothing to wait for"));
}

}  // namespace
}  // namespace scheduler
