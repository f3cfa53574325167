#include "scheduler/files/file_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/fakes/gate.h"
#include "tests/scratch_folder.h"
#include "tests/wait_until.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kAnn = 1;
constexpr int64_t kBob = 2;
constexpr int64_t kCleo = 3;

class OwnerThreadsTest : public testing::Test {
 protected:
  bool hang(OwnerThreads& threads, int64_t owner) const {
    if (!threads.may_begin(owner)) return false;
    threads.begin(owner, "/home/a.mrc",
                  [gate = gate_.share()](const OwnerThreads::Sign&) { gate->pass(); });
    return !threads.ends(owner);
  }
  static bool work(OwnerThreads& threads, int64_t owner) {
    if (!threads.may_begin(owner)) return false;
    threads.begin(owner, "/data/b.mrc", [](const OwnerThreads::Sign&) {});
    return tests::becomes_true([&] { return threads.ends(owner); });
  }

  const OwnerThreadLimits limits_{.timeout = milliseconds(300), .threads = 3, .kept = 1};
  tests::SharedGate gate_;
};

TEST_F(OwnerThreadsTest, WorkThatHangsKeepsItsOwnersFromMoreAndNobodyElse) {
  OwnerThreads threads(limits_);
  gate_->close();
  EXPECT_TRUE(hang(threads, kAnn));
  EXPECT_FALSE(threads.may_begin(kAnn));
  EXPECT_THAT(threads.hanging().at(kAnn),
              HasSubstr("the file system of '/home/a.mrc' has not answered for "));
  EXPECT_TRUE(work(threads, kBob));
  EXPECT_EQ(threads.hanging().count(kBob), 0U);
  gate_->open();
  EXPECT_TRUE(tests::becomes_true([&] { return threads.may_begin(kAnn); }));
  EXPECT_THAT(threads.hanging(), IsEmpty());
}

TEST_F(OwnerThreadsTest, TheLastThreadsAreForThoseWhoseLastWorkEnded) {
  OwnerThreads threads(limits_);
  EXPECT_TRUE(work(threads, kBob));
  gate_->close();
  EXPECT_TRUE(hang(threads, kAnn));
  EXPECT_TRUE(hang(threads, kCleo));
  constexpr int64_t kDan = 4;
  EXPECT_FALSE(threads.may_begin(kDan));
  EXPECT_THAT(threads.hanging().at(kDan), HasSubstr("the file systems of 2 users do not answer"));
  EXPECT_TRUE(work(threads, kBob));
  gate_->open();
  EXPECT_TRUE(tests::becomes_true([&] { return threads.may_begin(kDan); }));
  EXPECT_EQ(threads.hanging().count(kDan), 0U);
}

TEST_F(OwnerThreadsTest, TheirEndWaitsForNoThread) {
  gate_->close();
  {
    OwnerThreads threads(limits_);
    EXPECT_TRUE(hang(threads, kAnn));
  }
  gate_->open();
}

TEST(FileLooks, SeeWhatIsThereAndHowMuchDiskItsSearchNeeds) {
  const tests::ScratchFolder folder;
  const FileFacts registered = file_facts(folder.write("a.mrc", "micrograph"));
  FileLooks looks(look_at, {.timeout = std::chrono::minutes(2)});
  const SeenFile seen = looks.look(kAnn, registered);
  EXPECT_EQ(seen.found.change, FileChange::kNone);
  EXPECT_EQ(seen.found.ctime_ns, registered.ctime_ns);
  EXPECT_GT(seen.needed_bytes, 0);
  EXPECT_EQ(seen.problem, "");
  folder.write("a.mrc", "something longer");
  EXPECT_EQ(looks.look(kAnn, registered).found.change, FileChange::kOther);
  FileFacts unreachable = registered;
  unreachable.path = folder.file(std::string(300, 'x'));
  EXPECT_THAT(looks.look(kAnn, unreachable).problem, HasSubstr("File name too long"));
}

TEST(FileLooks, AnAnswerThatCameLateIsThatOfTheNextLookAtTheSameFile) {
  const tests::SharedGate gate;
  const auto asked = std::make_shared<std::atomic<int>>(0);
  FileLooks looks(
      [asked, gate = gate.share()](const FileFacts& registered) {
        ++*asked;
        gate->pass();
        return SeenFile{.problem = "answer about " + registered.path};
      },
      {.timeout = milliseconds(300)});
  gate->close();
  const SeenFile first = looks.look(kAnn, {.path = "/a"});
  EXPECT_TRUE(first.unanswered);
  EXPECT_THAT(first.problem, HasSubstr("the file system of '/a' has not answered for"));
  EXPECT_TRUE(looks.look(kAnn, {.path = "/b"}).unanswered);
  EXPECT_EQ(*asked, 1) << "one thread for each owner";
  gate->open();
  EXPECT_TRUE(tests::becomes_true([&] { return looks.hanging().empty(); }));
  EXPECT_EQ(looks.look(kAnn, {.path = "/a"}).problem, "answer about /a");
  EXPECT_EQ(*asked, 1);
}

}  // namespace
}  // namespace scheduler
