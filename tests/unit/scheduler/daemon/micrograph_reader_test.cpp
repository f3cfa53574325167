#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/sha256.h"
#include "scheduler/daemon/waiting_items.h"
#include "tests/unit/scheduler/daemon/micrograph_reader_fixture.h"

namespace scheduler {
namespace {

namespace fs = std::filesystem;
using db::ItemState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
  const DaemonContext context{config_, *database_,         cluster_,           clock_,
                              {},      [](const auto&) {}, [](const auto&) {}, {}};
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

}  // namespace
}  // namespace scheduler
