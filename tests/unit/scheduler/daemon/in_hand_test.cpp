#include "scheduler/daemon/in_hand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "db/pauses.h"
#include "tests/unit/scheduler/daemon/daemon_fixture.h"

namespace scheduler {
namespace {

using testing::Contains;
using testing::HasSubstr;

InHandNote at_work(int64_t item, Work work, const Suspect& suspect = {}, int signal = 0) {
  return {.item = item, .work = work, .signal = signal, .suspect = suspect};
}

TEST(Suspects, AreThoseThatWereInHandAtTheEnd) {
  EXPECT_EQ(suspect_after({}).item, 0);
  const Suspect first = suspect_after(at_work(7, Work::kLaunch, {}, SIGSEGV));
  EXPECT_EQ(first.item, 7);
  EXPECT_EQ(first.crashes, 1);
  EXPECT_FALSE(is_poison(first));
  const Suspect second = suspect_after(at_work(7, Work::kLaunch, first, SIGABRT));
  EXPECT_TRUE(is_poison(second));
}

TEST(Suspects, AnEndAtOtherWorkOrNoneBeginsTheCountAnew) {
  const Suspect first = suspect_after(at_work(7, Work::kLaunch, {}, SIGSEGV));
  EXPECT_FALSE(is_poison(suspect_after(at_work(8, Work::kLaunch, first, SIGSEGV))));
  EXPECT_FALSE(is_poison(suspect_after(at_work(7, Work::kTrack, first, SIGSEGV))));
  EXPECT_EQ(suspect_after(at_work(0, Work::kNone, first)).item, 0);
}

TEST(Suspects, KillsCountForLittle) {
  Suspect suspect;
  for (int i = 0; i < 4; ++i) suspect = suspect_after(at_work(7, Work::kTrack, suspect));
  EXPECT_FALSE(is_poison(suspect));
  EXPECT_TRUE(is_poison(suspect_after(at_work(7, Work::kTrack, suspect))));
}

class InHandFile : public testing::Test {
 protected:
  // In another process, which `end` ends.
  void in_process(const std::function<void(InHand&)>& work) const {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit no_core = {0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      for (const int number : {SIGSEGV, SIGABRT}) ::signal(number, SIG_DFL);
      InHand in_hand(path_);
      in_hand.note_crashes();
      work(in_hand);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  Suspect suspect() const { return InHand(path_).suspect(); }

  tests::ScratchFolder folder_;
  std::string path_ = folder_.file("in-hand");
};

TEST_F(InHandFile, ACrashIsNotedWithTheWorkInHand) {
  in_process([](InHand& in_hand) {
    in_hand.take(3, Work::kTrack);
    in_hand.take(4, Work::kLaunch);
    std::abort();
  });
  const Suspect last = suspect();
  EXPECT_EQ(last.item, 4);
  EXPECT_EQ(last.work, Work::kLaunch);
  EXPECT_EQ(last.crashes, 1);
  EXPECT_EQ(last.kills, 0);
}

TEST_F(InHandFile, ASignalOfTheProcessorIsACrashAndAKillIsNot) {
  in_process([](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    ::raise(SIGSEGV);
  });
  EXPECT_EQ(suspect().crashes, 1);
  in_process([](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    ::kill(getpid(), SIGKILL);
  });
  const Suspect last = suspect();
  EXPECT_EQ(last.crashes, 0) << "the last look at the file had nothing in hand";
  EXPECT_EQ(last.kills, 1);
}

TEST_F(InHandFile, AnEndOnPurposeDuringSomeWorkLeavesNoSuspect) {
  in_process([](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    in_hand.abandon();
    ::kill(getpid(), SIGKILL);
  });
  EXPECT_EQ(suspect().item, 0);
}

TEST_F(InHandFile, AnEndWithNothingInHandLeavesNoSuspect) {
  in_process([](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    in_hand.put_down();
    std::abort();
  });
  EXPECT_EQ(suspect().item, 0);
}

TEST_F(InHandFile, WorkThatWasDoneToItsEndIsAcquittedOfKillsButNotOfCrashes) {
  const auto is_ended = [](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    ::kill(getpid(), SIGKILL);
  };
  in_process(is_ended);
  in_process([&](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    in_hand.put_down();
    is_ended(in_hand);
  });
  EXPECT_EQ(suspect().kills, 1);
  const auto crashes = [](InHand& in_hand) {
    in_hand.take(4, Work::kTrack);
    in_hand.put_down();
    in_hand.take(4, Work::kTrack);
    std::abort();
  };
  in_process(crashes);
  in_process(crashes);
  EXPECT_TRUE(is_poison(suspect()));
}

TEST_F(InHandFile, AFileOfAnotherKindIsNoEvidence) {
  folder_.write("in-hand", std::string(500, 'x'));
  EXPECT_EQ(suspect().item, 0);
}

using DaemonPoisonTest = DaemonFixture;

TEST_F(DaemonPoisonTest, AnItemAtWhoseLaunchTheDaemonKeepsEndingIsQuarantinedAndTheOthersRun) {
  config_.local.slots = 2;
  restart();
  const auto poison = enqueue("a.mrc").id;
  const auto other = enqueue("b.mrc").id;
  for (int i = 0; i < 5; ++i) {
    restart_with_crash_at("before-attempt-commit");
    EXPECT_EQ(item(poison).state, db::ItemState::kQueued);
    EXPECT_FALSE(tick());
  }
  restart();
  EXPECT_EQ(item(poison).state, db::ItemState::kQuarantined);
  EXPECT_THAT(item(poison).reason, HasSubstr("5 times in a row while it prepared this item's job"));
  EXPECT_THAT(log_, Contains(HasSubstr("item 1: QUARANTINED: margayd ended abnormally")));
  ticks(1);
  EXPECT_EQ(item(other).state, db::ItemState::kActive);
  retry(poison);
  ticks(1);
  EXPECT_EQ(item(poison).state, db::ItemState::kActive);
}

TEST_F(DaemonPoisonTest, AnAttemptAtWhoseEndTheDaemonKeepsEndingIsClosedAndItsJobStopped) {
  const auto poison = enqueue("a.mrc").id;
  ticks(2);
  finish(attempt(poison));
  for (int i = 0; i < 5; ++i) {
    restart_with_crash_at("before-outcome-commit");
    EXPECT_FALSE(tick());
  }
  restart();
  EXPECT_EQ(item(poison).state, db::ItemState::kQuarantined);
  EXPECT_EQ(attempt(poison).state, db::AttemptState::kFailed);
  EXPECT_THAT(attempt(poison).message, HasSubstr("looked at the files of this item's job"));
  ticks(2);
  EXPECT_FALSE(result(poison));
}

TEST_F(DaemonPoisonTest, ADaemonThatEndsAtOneItemAfterAnotherPausesTheQueueAndKeepsTheItems) {
  const auto first = enqueue("a.mrc").id;
  const auto second = enqueue("b.mrc").id;
  for (int i = 0; i < 10; ++i) {
    restart_with_crash_at("before-attempt-commit");
    EXPECT_FALSE(tick());
  }
  restart();
  EXPECT_EQ(item(first).state, db::ItemState::kQuarantined);
  EXPECT_EQ(item(second).state, db::ItemState::kQueued);
  EXPECT_THAT(daemon_->status().pause_reason,
              HasSubstr("paused by margayd: margayd ended abnormally at one item after another "
                        "while it prepared jobs, last at item 2"));
  restart();
  ticks(3);
  EXPECT_EQ(cluster_.requests.size(), 0U);
  EXPECT_TRUE(db::PauseStore(*database_).clear());
  for (int i = 0; i < 5; ++i) {
    restart_with_crash_at("before-attempt-commit");
    EXPECT_FALSE(tick());
  }
  restart();
  EXPECT_NE(daemon_->status().pause_reason, "") << "the cause was not gone";
  EXPECT_TRUE(db::PauseStore(*database_).clear());
  ticks(1);
  EXPECT_EQ(item(second).state, db::ItemState::kActive);
}

TEST_F(DaemonPoisonTest, ItemsBetweenWhichAJobWasPreparedAreSetAsideOneByOne) {
  config_.local.slots = 2;
  std::vector<int64_t> poison;
  for (const char* name : {"a.mrc", "b.mrc"}) {
    poison.push_back(enqueue(name).id);
    for (int i = 0; i < 5; ++i) {
      restart_with_crash_at("before-attempt-commit");
      EXPECT_FALSE(tick());
    }
    restart();
    enqueue(std::string("well-") + name);
    ticks(1);
  }
  for (const auto id : poison) EXPECT_EQ(item(id).state, db::ItemState::kQuarantined);
  EXPECT_EQ(daemon_->status().pause_reason, "");
}

}  // namespace
}  // namespace scheduler
