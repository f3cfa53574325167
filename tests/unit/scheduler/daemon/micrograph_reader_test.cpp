#include "scheduler/daemon/micrograph_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/other_content.h"
#include "base/sha256.h"
#include "scheduler/daemon/waiting_items.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using db::ItemState;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MicrographReaderTest : public DaemonFixture {
 protected:
  // Not read yet.
  int64_t enqueue_unread(const std::string& name, const Caller& caller, bool hold = false,
                         db::Priority priority = db::Priority::kNormal) {
    return commands_
        ->enqueue(caller, {.micrograph = file_facts(folder_.write(name, "micrograph " + name)),
                           .template_name = "ribosome",
                           .priority = priority,
                           .hold = hold})
        .id;
  }
  int64_t enqueue_unread(const std::string& name) { return enqueue_unread(name, user_); }
  // As `touch -r` does after a write.
  void write_unseen(const std::string& name, const std::string& text) const {
    const auto time = fs::last_write_time(folder_.file(name));
    folder_.write(name, text);
    fs::last_write_time(folder_.file(name), time);
  }
  std::string reason(int64_t id) { return commands_->show(id).explanation; }
  // As a file server that refuses the daemon: it can neither be opened nor is it missing.
  void make_unreachable(int64_t id) {
    database_->connection().execute("UPDATE items SET micrograph_path = '" +
                                    folder_.file(std::string(300, 'x') + std::to_string(id)) +
                                    "' WHERE id = " + std::to_string(id));
  }

  const Caller other_{.uid = 1001, .name = "bob"};
};

TEST_F(MicrographReaderTest, AnItemIsStartedOnlyOnceItsMicrographWasRead) {
  const auto id = enqueue_unread("a.mrc");
  daemon_->tick();
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(reason(id), HasSubstr("its micrograph is being read"));
  EXPECT_TRUE(daemon_->read_micrographs());
  EXPECT_EQ(item(id).micrograph_sha256, base::sha256_of_text("micrograph a.mrc"));
  EXPECT_FALSE(daemon_->read_micrographs());
  daemon_->tick();
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(MicrographReaderTest, KeepsTheSizeOfTheImage) {
  const auto id = enqueue_unread("text.mrc");
  fs::copy_file(MARGAY_SOURCE_DIR "/tests/data/lsu_crop.mrc", folder_.file("image.mrc"));
  const auto image = commands_
                         ->enqueue(user_, {.micrograph = file_facts(folder_.file("image.mrc")),
                                           .template_name = "ribosome"})
                         .id;
  read_micrographs();
  EXPECT_EQ(item(image).micrograph_size.width, 256);
  EXPECT_EQ(item(image).micrograph_size.height, 256);
  EXPECT_EQ(item(id).micrograph_size.width, 0) << "not known";
}

TEST_F(MicrographReaderTest, ARestartContinuesWithWhatIsToBeRead) {
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue_unread("b.mrc");
  restart();
  fs::last_write_time(folder_.file("a.mrc"), fs::file_time_type::clock::now());
  read_micrographs();
  EXPECT_EQ(item(first).state, ItemState::kQueued) << "it is not read twice";
  EXPECT_EQ(item(second).micrograph_sha256, base::sha256_of_text("micrograph b.mrc"));
}

TEST_F(MicrographReaderTest, AHeldItemIsReadToo) {
  const auto id = enqueue_unread("a.mrc", user_, true);
  read_micrographs();
  EXPECT_NE(item(id).micrograph_sha256, "");
  EXPECT_EQ(item(id).state, ItemState::kHeld);
}

TEST_F(MicrographReaderTest, ALinkOrAChangedFileInItsPlaceIsNotRead) {
  const auto linked = enqueue_unread("a.mrc", user_, true);
  const auto changed = enqueue_unread("b.mrc");
  fs::rename(folder_.file("a.mrc"), folder_.file("c.mrc"));
  fs::create_symlink("c.mrc", folder_.file("a.mrc"));
  folder_.write("b.mrc", "longer than it was, by far");
  read_micrographs();
  EXPECT_EQ(item(linked).state, ItemState::kQuarantined);
  EXPECT_THAT(item(linked).reason, HasSubstr("symbolic link"));
  EXPECT_EQ(item(changed).state, ItemState::kQuarantined);
  EXPECT_THAT(item(changed).reason, HasSubstr("`margay retry`"));
}

TEST_F(MicrographReaderTest, AFileWrittenUnseenIsReadAgainAndQuarantined) {
  const auto changed = enqueue("a.mrc").id;
  write_unseen("a.mrc", "micrograph A.mrc");
  ticks(2);
  EXPECT_EQ(item(changed).state, ItemState::kQuarantined);
  EXPECT_THAT(item(changed).reason, HasSubstr("other content"));
  EXPECT_THAT(cluster_.requests, IsEmpty());
}

TEST_F(MicrographReaderTest, AFileWhoseRightsAloneChangedIsReadAgainAndSearched) {
  const auto id = enqueue("a.mrc").id;
  fs::permissions(folder_.file("a.mrc"), fs::perms::owner_read);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(MicrographReaderTest, AMicrographThatIsAwayIsReadLater) {
  fs::create_directory(folder_.file("share"));
  const auto id = enqueue_unread("share/a.mrc");
  const auto held = enqueue_unread("share/b.mrc", user_, true);
  fs::rename(folder_.file("share"), folder_.file("unmounted"));
  read_micrographs();
  EXPECT_EQ(item(id).state, ItemState::kQueued);
  EXPECT_THAT(item(id).reason, HasSubstr("together with its folder"));
  EXPECT_EQ(item(held).state, ItemState::kHeld);
  fs::rename(folder_.file("unmounted"), folder_.file("share"));
  clock_.pass(2 * config_.intervals.retry);
  read_micrographs();
  EXPECT_NE(item(id).micrograph_sha256, "");
  EXPECT_NE(item(held).micrograph_sha256, "");
}

TEST_F(MicrographReaderTest, TheMostUrgentClassComesFirstAndUsersTakeTurns) {
  const auto low = enqueue_unread("a.mrc", other_, false, db::Priority::kLow);
  const auto hers = enqueue_unread("b.mrc", user_);
  const auto his = enqueue_unread("c.mrc", other_);
  std::vector<int64_t> order;
  const auto read_next = [&] {
    daemon_->read_micrographs();
    for (const int64_t id : {low, hers, his}) {
      const bool known = std::find(order.begin(), order.end(), id) != order.end();
      if (!known && !item(id).micrograph_sha256.empty()) order.push_back(id);
    }
  };
  for (int i = 0; i < 3; ++i) read_next();
  EXPECT_THAT(order, ElementsAre(hers, his, low));
}

TEST_F(MicrographReaderTest, AUserWithManyMicrographsTakesTurnsWithTheOthers) {
  int64_t last = 0;
  for (int i = 0; i < 150; ++i) last = enqueue_unread("a" + std::to_string(i) + ".mrc");
  const auto his = enqueue_unread("b.mrc", other_);
  daemon_->read_micrographs();
  EXPECT_EQ(item(his).micrograph_sha256, "");
  daemon_->read_micrographs();
  EXPECT_NE(item(his).micrograph_sha256, "");
  EXPECT_EQ(item(last).micrograph_sha256, "");
}

TEST(NextGroup, IsOfTheMostUrgentClassAndOfTheOwnerWithTheLeastReadingTime) {
  using db::Priority;
  ReadingTimes times;
  add_time(times, 1, 60);
  add_time(times, 2, 1);
  add_time(times, 2, 1);
  const auto owner = [&](const std::vector<db::UnreadGroup>& groups) {
    return next_group(groups, times)->owner_uid;
  };
  EXPECT_EQ(owner({{Priority::kNormal, 1}, {Priority::kNormal, 2}}), 2) << "his were read faster";
  EXPECT_EQ(owner({{Priority::kNormal, 2}, {Priority::kNormal, 3}}), 3) << "none of his was read";
  EXPECT_EQ(owner({{Priority::kHigh, 1}, {Priority::kNormal, 2}}), 1);
  EXPECT_FALSE(next_group({}, times));
  add_time(times, 2, 3600);
  EXPECT_NEAR(times[1], 30, 0.1) << "half is forgotten with an hour";
}

// As a network file system numbers its files anew when it is mounted.
TEST_F(MicrographReaderTest, AFileWithAnotherInodeIsReadAgainAndItsHashDecides) {
  config_.local.slots = 2;
  restart();
  const auto same = enqueue("a.mrc").id;
  const auto other = enqueue("b.mrc").id;
  const auto unread = enqueue_unread("c.mrc");
  const auto replace = [&](const std::string& name, const std::string& text) {
    const auto time = fs::last_write_time(folder_.file(name));
    fs::rename(folder_.write("new.mrc", text), folder_.file(name));
    fs::last_write_time(folder_.file(name), time);
  };
  replace("a.mrc", "micrograph a.mrc");
  replace("b.mrc", "micrograph B.mrc");
  replace("c.mrc", "micrograph c.mrc");
  const int64_t inode = item(same).micrograph_id.inode;
  daemon_->tick();
  ticks(1);
  EXPECT_EQ(item(same).state, ItemState::kActive);
  EXPECT_NE(item(same).micrograph_id.inode, inode);
  EXPECT_EQ(item(other).state, ItemState::kQuarantined);
  EXPECT_THAT(item(other).reason, HasSubstr("another file than the registered one"));
  EXPECT_EQ(item(unread).state, ItemState::kQuarantined) << "there is no hash to compare with";
}

// As some network file systems number their files anew at each mount.
TEST_F(MicrographReaderTest, ATemplateVolumeWithAnotherInodeStopsNoSearch) {
  const auto id = enqueue("a.mrc").id;
  const auto time = fs::last_write_time(folder_.file("volume.mrc"));
  fs::rename(folder_.write("new.mrc", "volume"), folder_.file("volume.mrc"));
  fs::last_write_time(folder_.file("volume.mrc"), time);
  ticks(2);
  EXPECT_EQ(item(id).state, ItemState::kActive) << item(id).reason;
}

TEST_F(MicrographReaderTest, AVerdictIsNotAboutTheFileOfARetryMeanwhile) {
  const auto wrong = enqueue_unread("a.mrc");
  fs::create_directory(folder_.file("share"));
  const auto away = enqueue_unread("share/b.mrc");
  const db::Item read_wrong = item(wrong);
  const db::Item read_away = item(away);
  for (const int64_t id : {wrong, away}) commands_->cancel(user_, id);
  folder_.write("a.mrc", "another micrograph");
  folder_.write("share/b.mrc", "another micrograph");
  for (const int64_t id : {wrong, away}) retry(id);
  const DaemonContext context{config_, *database_, cluster_, clock_, {}, [](const auto&) {}, {}};
  end_waiting(context, wrong, ItemState::kQuarantined, "it changed", still_unread(read_wrong));
  postpone_waiting(context, away, "it is away", still_unread(read_away));
  EXPECT_EQ(item(wrong).state, ItemState::kQueued);
  EXPECT_THAT(item(away).reason, HasSubstr("requeued by"));
  read_micrographs();
  EXPECT_EQ(item(wrong).micrograph_sha256, base::sha256_of_text("another micrograph"));
}

TEST_F(MicrographReaderTest, ARetryReadsTheMicrographAgain) {
  const auto id = enqueue("a.mrc").id;
  db::ItemStore(*database_).set_state(id, ItemState::kFailed, "", 0);
  write_unseen("a.mrc", "micrograph A.mrc");
  retry(id);
  ticks(1);
  EXPECT_EQ(item(id).micrograph_sha256, base::sha256_of_text("micrograph A.mrc"));
  EXPECT_EQ(item(id).state, ItemState::kActive);
}

TEST_F(MicrographReaderTest, AResultOfAnotherMicrographIsNotAccepted) {
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

TEST_F(MicrographReaderTest, TheEngineLearnsWhatItMaySearch) {
  const auto id = enqueue("a.mrc").id;
  ticks(2);
  const std::string config = tests::text_of(attempt(id).directory + "/config.yaml");
  EXPECT_THAT(config, HasSubstr("micrograph_sha256: \"" + item(id).micrograph_sha256 + "\""));
  EXPECT_THAT(config,
              HasSubstr("template_volume_sha256: \"" + base::sha256_of_text("volume") + "\""));
}

TEST_F(MicrographReaderTest, AFileThatTheEngineDidNotSearchIsTheItemsFaultAndNoHosts) {
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

TEST_F(MicrographReaderTest, NothingOfAnotherFileStaysInTheFolderOfItsSearch) {
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

TEST_F(MicrographReaderTest, WhatMustNotStayIsRemovedOnceTheFolderOfJobsIsBack) {
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

TEST_F(MicrographReaderTest, AResultIsAcceptedWhoseMicrographCanNoLongerBeOpened) {
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

TEST_F(MicrographReaderTest, ASearchThatFailedSinceItsMicrographCannotBeOpenedEndsAndIsRetried) {
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

TEST_F(MicrographReaderTest, AResultWithTheRegisteredHashIsAcceptedWhateverIsInItsPlace) {
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
