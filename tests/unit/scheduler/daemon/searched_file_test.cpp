// Which file a search was of: a result counts only for the bytes that were registered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/other_content.h"
#include "base/sha256.h"
#include "tests/unit/scheduler/daemon/micrograph_reader_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using db::ItemState;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class SearchedFileTest : public MicrographReaderTest {};

TEST_F(SearchedFileTest, AResultOfAnotherMicrographIsNotAccepted) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  // What a link in its place led to while the engine read it.
  write_unseen("a.mrc", "micrograph S.mrc");
  finish(attempt(id));
  write_unseen("a.mrc", "micrograph a.mrc");
  ticks(1);
  EXPECT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_THAT(item(id).reason, HasSubstr("manifest's SHA-256 is not that of the registered"));
  EXPECT_FALSE(result(id));
}

TEST_F(SearchedFileTest, TheEngineLearnsWhatItMaySearch) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const std::string config = tests::text_of(attempt(id).directory + "/config.yaml");
  EXPECT_THAT(config, HasSubstr("micrograph_sha256: \"" + item(id).micrograph_sha256 + "\""));
  EXPECT_THAT(config,
              HasSubstr("template_volume_sha256: \"" + base::sha256_of_text("volume") + "\""));
}

TEST_F(SearchedFileTest, AFileThatTheEngineDidNotSearchIsTheItemsFaultAndNoHosts) {
  config_.local.slots = 3;
  restart();
  const auto other = enqueue("a.mrc").id;
  const auto away = enqueue("b.mrc").id;
  const auto volume = enqueue("c.mrc").id;
  ticks(2);
  const auto refuse = [&](int64_t id, const std::string& field, const std::string& key) {
    fail(attempt(id), 64,
         "margay-engine: " + field + ": 'x' " + base::other_content_text(key) +
             ", and nothing of it is searched\n");
  };
  refuse(other, "micrograph_path", base::kMicrographHashKey);
  refuse(away, "micrograph_path", base::kMicrographHashKey);
  make_unreachable(away);
  refuse(volume, "template_volume_path", base::kVolumeHashKey);
  ticks(1);
  EXPECT_EQ(item(other).state, ItemState::kQuarantined);
  EXPECT_THAT(item(other).reason,
              AllOf(HasSubstr("'" + folder_.file("a.mrc") + "'"), HasSubstr("SHA-256 has changed"),
                    HasSubstr("put the registered file back")));
  EXPECT_EQ(attempt(other).cause, "bad_input");
  EXPECT_EQ(item(away).state, ItemState::kQuarantined) << "what the engine saw counts";
  EXPECT_EQ(item(volume).state, ItemState::kQuarantined);
  EXPECT_THAT(item(volume).reason,
              AllOf(HasSubstr("template volume"), HasSubstr("register it as a new version")));
}

TEST_F(SearchedFileTest, NothingOfAnotherFileStaysInTheFolderOfItsSearch) {
  config_.local.slots = 3;
  restart();
  const auto other = enqueue("a.mrc").id;
  const auto done = enqueue("b.mrc").id;
  ticks(2);
  const auto names = [&](int64_t id) {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(attempt(id).directory)) {
      found.insert(entry.path().filename());
    }
    return found;
  };
  write_unseen("a.mrc", "micrograph S.mrc");
  for (const int64_t id : {other, done}) {
    const std::string folder = attempt(id).directory;
    fs::create_directories(folder + "/claim");
    fs::create_directories(folder + "/pictures");
    for (const char* name : {"job.log", "scaled_mip.png", "checkpoint.mgc", "pictures/one.png"}) {
      std::ofstream(folder + "/" + name) << "x";
    }
    finish(attempt(id));
  }
  const auto all = names(done);
  ticks(2);
  EXPECT_EQ(item(other).state, ItemState::kQuarantined);
  EXPECT_THAT(names(other),
              ElementsAre("claim", "config.yaml", "job.log", "job.sh", "manifest.json"));
  EXPECT_EQ(item(done).state, ItemState::kDone);
  EXPECT_EQ(names(done).size() + 1, all.size()) << "all but the checkpoint";
}

TEST_F(SearchedFileTest, WhatMustNotStayIsRemovedOnceTheFolderOfJobsIsBack) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const db::Attempt running = attempt(id);
  write_unseen("a.mrc", "micrograph S.mrc");
  leave_manifest(running);
  ticks(1);
  ASSERT_EQ(item(id).state, ItemState::kQuarantined);
  EXPECT_TRUE(fs::exists(running.directory + "/peaks.csv")) << "its job may still write";
  fs::rename(config_.jobs(), config_.jobs() + ".away");
  cluster_.end(running.token, slurm::JobState::kCompleted, 0);
  ticks(2);
  fs::remove_all(config_.jobs());
  fs::rename(config_.jobs() + ".away", config_.jobs());
  ticks(1);
  EXPECT_FALSE(fs::exists(running.directory + "/peaks.csv"));
  EXPECT_TRUE(fs::exists(running.directory + "/manifest.json"));
}

TEST_F(SearchedFileTest, AResultIsAcceptedWhoseMicrographCanNoLongerBeOpened) {
  config_.local.slots = 3;
  restart();
  const auto known = enqueue("a.mrc").id;
  const auto unknown = enqueue("b.mrc").id;
  ticks(2);
  for (const int64_t id : {known, unknown}) {
    finish(attempt(id));
    make_unreachable(id);
  }
  db::Item unread = item(unknown);
  unread.micrograph_sha256.clear();
  db::ItemStore(*database_).update(unread);
  ticks(1);
  EXPECT_EQ(item(known).state, ItemState::kDone);
  EXPECT_EQ(item(unknown).state, ItemState::kDone) << "there is nothing to compare with";
}

TEST_F(SearchedFileTest, ASearchThatFailedSinceItsMicrographCannotBeOpenedEndsAndIsRetried) {
  config_.local.slots = 3;
  restart();
  const auto id = enqueue("a.mrc").id;
  const auto cancelled = enqueue("b.mrc").id;
  ticks(2);
  for (const int64_t one : {id, cancelled}) {
    fail(attempt(one), 64, "margay-engine: micrograph_path: cannot be opened");
    make_unreachable(one);
  }
  commands_->cancel(user_, cancelled);
  ticks(1);
  EXPECT_EQ(attempt(id).cause, "input_away");
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(item(id).reason, HasSubstr("File name too long"));
  EXPECT_EQ(item(cancelled).state, ItemState::kCancelled);
}

TEST_F(SearchedFileTest, AResultWithTheRegisteredHashIsAcceptedWhateverIsInItsPlace) {
  config_.local.slots = 3;
  restart();
  const auto written = enqueue("a.mrc").id;
  const auto linked = enqueue("b.mrc").id;
  const auto unread = enqueue("c.mrc").id;
  ticks(2);
  for (const int64_t id : {written, linked, unread}) finish(attempt(id));
  folder_.write("a.mrc", "something else");
  fs::rename(folder_.file("b.mrc"), folder_.file("moved.mrc"));
  fs::create_symlink("moved.mrc", folder_.file("b.mrc"));
  folder_.write("c.mrc", "something else");
  db::Item without_hash = item(unread);
  without_hash.micrograph_sha256.clear();
  db::ItemStore(*database_).update(without_hash);
  ticks(1);
  EXPECT_EQ(item(written).state, ItemState::kDone);
  EXPECT_EQ(item(linked).state, ItemState::kDone);
  EXPECT_EQ(item(unread).state, ItemState::kQuarantined) << "only the file can prove it";
}

}  // namespace
}  // namespace scheduler
