// Items that users remove: records, folders, and what must outlive them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/audit.h"
#include "db/measures.h"
#include "db/removed.h"
#include "db/used_gpus.h"
#include "tests/unit/scheduler/daemon/housekeeper_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using db::ItemState;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(HousekeeperTest, ARemovedItemIsGoneAndItsResultsStay) {
  const auto id = done("a.mrc");
  const std::string results = attempt(id).directory;
  ASSERT_TRUE(fs::exists(results + "/job.sh"));
  EXPECT_EQ(remove(id), "");
  EXPECT_THAT(refusal<NotFound>([&] { commands_->show(id); }),
              AllOf(HasSubstr("it was removed by ann"), HasSubstr("results are in '" + results)));
  keep();
  for (const char* gone : {"job.sh", "job.log", "progress.json", "checkpoint.mgc"}) {
    EXPECT_FALSE(fs::exists(results + "/" + gone)) << gone;
  }
  for (const char* kept : {"mip.mrc", "peaks.csv", "manifest.json", "config.yaml"}) {
    EXPECT_TRUE(fs::exists(results + "/" + kept)) << kept;
  }
  EXPECT_FALSE(fs::exists(folder_of(id) + "/current"));
  EXPECT_TRUE(db::RemovedItemStore(*database_).removals(0, 1).empty());
  const auto history = db::AuditStore(*database_).of_item(id);
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history.back().action, "remove");
  EXPECT_EQ(history.back().who, "ann");
  EXPECT_THAT(history.back().detail, HasSubstr("was DONE"));
}

// A site that replaces a link to its folder of jobs by the folder's own path has both in its
// records.
TEST_F(HousekeeperTest, ResultsStayThatAreKnownByAnotherPathOfTheirFolder) {
  const auto id = done("a.mrc");
  const std::string results = attempt(id).directory;
  const std::string link = folder_.file("link");
  fs::create_directory_symlink(config_.jobs(), link);
  database_->connection().execute("UPDATE results SET manifest_path = '" + link + "/" +
                                  std::to_string(id) + "/a1/manifest.json'");
  EXPECT_EQ(remove(id), "");
  fs::remove(link);
  keep();
  EXPECT_TRUE(fs::exists(results + "/job.sh")) << "what the path led to is not known";
  EXPECT_THAT(log_.back(), AllOf(HasSubstr("stays as long as it is not known whether '" + link),
                                 HasSubstr("is away")));
  EXPECT_THAT(keeper_->collect(true).left, testing::ElementsAre(HasSubstr("1 folder of removed")));
  fs::create_directory_symlink(config_.jobs(), link);
  keep_house();
  keep();
  EXPECT_TRUE(fs::exists(results + "/mip.mrc"));
  EXPECT_FALSE(fs::exists(results + "/job.sh"));
  EXPECT_TRUE(db::RemovedItemStore(*database_).removals(0, 1).empty());
}

TEST_F(HousekeeperTest, ResultsAreRemovedOnlyWhenThatIsSaid) {
  const auto with = done("a.mrc");
  const auto later = done("b.mrc");
  EXPECT_EQ(remove(with, true), "");
  EXPECT_EQ(remove(later), "");
  keep();
  EXPECT_FALSE(has_folder(with));
  EXPECT_TRUE(has_folder(later));
  EXPECT_THAT(remove(later), HasSubstr("was removed"));
  EXPECT_THAT(remove_as(other_, later, true), HasSubstr("belongs to ann"));
  EXPECT_EQ(remove(later, true), "");
  keep();
  EXPECT_FALSE(has_folder(later));
  EXPECT_THAT(remove(later, true), HasSubstr("no item " + std::to_string(later))) << "twice";
}

TEST_F(HousekeeperTest, AnItemThatHasNotEndedIsNotRemoved) {
  const auto waits = commands_->enqueue(user_, request("w.mrc")).id;
  EXPECT_THAT(remove(waits), AllOf(HasSubstr("(QUEUED) has not ended"),
                                   HasSubstr("'margay cancel " + std::to_string(waits))));
  commands_->cancel(user_, waits);
  const auto runs = enqueue("r.mrc").id;
  ticks(1);
  EXPECT_THAT(remove(runs), HasSubstr("cancel it first"));
  commands_->cancel(user_, runs);
  EXPECT_THAT(remove(runs), HasSubstr("once its job has stopped"));
  keep();
  EXPECT_TRUE(fs::exists(attempt(runs).directory + "/job.sh"));
  EXPECT_EQ(remove(waits), "");
}

// Its script may still write into the folder.
TEST_F(HousekeeperTest, AnItemWhoseJobMayStillBeThereIsNotRemoved) {
  const auto id = enqueue("a.mrc").id;
  ticks(1);
  leave_manifest(attempt(id));
  ticks(1);
  ASSERT_EQ(item(id).state, ItemState::kDone) << "by its manifest, while its job still ends";
  EXPECT_THAT(remove(id), HasSubstr("the cluster has not said yet that it is gone"));
  cluster_.end(attempt(id).token, slurm::JobState::kCompleted, 0);
  ticks(2);
  EXPECT_EQ(remove(id), "");
}

TEST_F(HousekeeperTest, OnlyTheOwnerAndOperatorsRemove) {
  const auto id = failed("a.mrc");
  EXPECT_THAT(remove_as(other_, id), HasSubstr("belongs to ann"));
  EXPECT_TRUE(db::ItemStore(*database_).find(id));
  EXPECT_EQ(remove_as(root_, id), "");
  EXPECT_THAT(remove(999), HasSubstr("no item 999"));
}

TEST_F(HousekeeperTest, ADryRunRemovesNothing) {
  const auto id = failed("a.mrc");
  const auto answers = commands_->remove(user_, {id, 999}, true, true);
  EXPECT_TRUE(answers[0].item);
  EXPECT_TRUE(answers[1].refused);
  keep();
  EXPECT_TRUE(db::ItemStore(*database_).find(id));
  EXPECT_TRUE(has_folder(id));
}

TEST_F(HousekeeperTest, OneThatIsRefusedKeepsNoOtherFromBeingRemoved) {
  const auto first = failed("a.mrc");
  const auto last = failed("b.mrc");
  const auto waits = commands_->enqueue(user_, request("w.mrc")).id;
  const auto answers = commands_->remove(user_, {first, waits, last, last}, false);
  EXPECT_TRUE(answers[0].item);
  EXPECT_TRUE(answers[1].refused);
  EXPECT_TRUE(answers[2].item);
  EXPECT_TRUE(answers[3].refused) << "named twice";
  keep();
  EXPECT_FALSE(has_folder(first));
  EXPECT_FALSE(has_folder(last));
}

// With the hash that a watch sends, and before anybody has read the file.
TEST_F(HousekeeperTest, AWatchDoesNotEnqueueTheFileOfARemovedItemAgain) {
  const auto id = failed("a.mrc");
  const std::string sha256 = item(id).micrograph_sha256;
  ASSERT_EQ(sha256.size(), 64U);
  EXPECT_EQ(remove(id), "");
  EnqueueRequest watched{.micrograph = file_facts(folder_.file("a.mrc")),
                         .template_name = "ribosome",
                         .content = sha256};
  EXPECT_THAT(refusal<Conflict>([&] { commands_->enqueue(user_, watched); }),
              HasSubstr("was item " + std::to_string(id) + ", which ann removed"));
  const auto unread = commands_->enqueue(user_, request("u.mrc")).id;
  commands_->cancel(user_, unread);
  EXPECT_EQ(remove(unread), "");
  watched.micrograph = file_facts(folder_.file("u.mrc"));
  watched.content = std::string(64, 'a');
  EXPECT_THAT(refusal<Conflict>([&] { commands_->enqueue(user_, watched); }),
              HasSubstr("which ann removed"));
  watched.micrograph = file_facts(folder_.write("u.mrc", "another image in its place"));
  EXPECT_EQ(commands_->enqueue(user_, watched).repeat, 1) << "that file was never an item";
}

TEST_F(HousekeeperTest, WhatAWatchHasEnqueuedStaysKnownByItsContent) {
  EnqueueRequest watched = request("a.mrc");
  watched.content = std::string(64, 'c');
  const auto id = commands_->enqueue(user_, watched).id;
  commands_->cancel(user_, id);
  EXPECT_EQ(remove(id), "");
  EnqueueRequest copy = request("copy.mrc");
  copy.content = watched.content;
  EXPECT_THAT(refusal<Conflict>([&] { commands_->enqueue(user_, copy); }),
              HasSubstr("as item " + std::to_string(id)));
}

TEST_F(HousekeeperTest, WhoNamesTheFileOfARemovedItemEnqueuesItAnew) {
  const auto id = failed("a.mrc");
  EXPECT_EQ(remove(id), "");
  const auto again = commands_->enqueue(
      user_, {.micrograph = file_facts(folder_.file("a.mrc")), .template_name = "ribosome"});
  EXPECT_GT(again.id, id);
  EXPECT_EQ(again.repeat, 1);
}

TEST_F(HousekeeperTest, WhatWasLearnedAndUsedOutlivesTheItem) {
  const auto id = done("a.mrc");
  const auto measures = db::MeasureStore(*database_).all().size();
  const auto used = db::UsedGpusStore(*database_).ended_after(0).size();
  EXPECT_GT(used, 0U);
  EXPECT_EQ(remove(id, true), "");
  keep();
  EXPECT_EQ(db::MeasureStore(*database_).all().size(), measures);
  EXPECT_EQ(db::UsedGpusStore(*database_).ended_after(0).size(), used);
  ticks(3);
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_EQ(daemon_->status().items.count(ItemState::kDone), 0U);
}

TEST_F(HousekeeperTest, ACrashLeavesAFolderWholeOrGoneAndTheNextStartGoesOn) {
  for (const char* point : {"before-removal", "moved-for-removal", "after-removal"}) {
    const auto id = done(std::string(point) + ".mrc");
    const auto kept = done(std::string(point) + "_kept.mrc");
    const std::string results = attempt(kept).directory;
    EXPECT_EQ(remove(kept), "");
    EXPECT_EQ(remove(id, true), "");
    for (int crash = 0; crash < 2; ++crash) {
      keeper_crash_ = point;
      EXPECT_THROW(keep(), Crash) << point;
      EXPECT_TRUE(keeper_crash_.empty());
      restart();
      keep_house();
      EXPECT_TRUE(!has_folder(id) || fs::exists(folder_of(id) + "/a1/mip.mrc")) << point;
    }
    keep();
    EXPECT_FALSE(has_folder(id)) << point;
    EXPECT_TRUE(fs::exists(results + "/mip.mrc")) << point;
    EXPECT_FALSE(fs::exists(results + "/job.sh")) << point;
    EXPECT_TRUE(db::RemovedItemStore(*database_).removals(0, 1).empty()) << point;
    EXPECT_FALSE(fs::exists(config_.jobs() + "/.removed")) << point;
  }
}

TEST_F(HousekeeperTest, WhileTheFolderOfJobsIsAwayNothingIsTouchedAndItIsSaidOnce) {
  const auto id = failed("a.mrc");
  EXPECT_EQ(remove(id), "");
  const auto lines = log_.size();
  fs::rename(config_.jobs() + "/.owner", folder_.file("owner"));
  keep();
  keep();
  EXPECT_TRUE(has_folder(id));
  ASSERT_EQ(log_.size(), lines + 1);
  EXPECT_THAT(log_.back(), HasSubstr("is away"));
  fs::rename(folder_.file("owner"), config_.jobs() + "/.owner");
  clock_.pass(std::chrono::minutes(1));
  keep();
  EXPECT_FALSE(has_folder(id));
}

// The daemon reads a micrograph while its item is cancelled and removed.
TEST_F(HousekeeperTest, AnItemThatIsRemovedWhileItIsReadSpoilsNothing) {
  int64_t id = 0;
  before_open_ = [&](const std::string&) {
    if (id == 0) return;
    const int64_t removed = std::exchange(id, 0);
    commands_->cancel(user_, removed);
    EXPECT_EQ(remove(removed), "");
  };
  restart();
  keep_house();
  id = commands_->enqueue(user_, request("a.mrc")).id;
  ticks(2);
  EXPECT_EQ(id, 0) << "it was not read";
  EXPECT_EQ(daemon_->status().problem, "");
  EXPECT_TRUE(db::ItemStore(*database_).list({}).empty());
}

}  // namespace
}  // namespace scheduler
