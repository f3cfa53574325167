// The real daemon with jobs on this machine, ended at every crash point: every item is searched
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "scheduler/crash_point.h"
#include "tests/integration/queue_at_work.h"
#include "tests/integration/searched_once.h"

namespace tests {
namespace {

class CrashPoint : public ::testing::TestWithParam<std::string> {};

// What must have gone wrong before, so that the point is reached at all.
std::string earlier_crash(const std::string& point) {
  if (point.find("adopt") != std::string::npos) return "after-submit";
  if (point.find("never-started") != std::string::npos) return "after-attempt-commit";
  return "";
}

TEST_P(CrashPoint, IsSurvivedWithEveryItemSearchedOnce) {
  QueueAtWork queue;
  queue.start_daemon();
  queue.add_template();
  queue.kill_daemon(SIGTERM);
  if (!earlier_crash(GetParam()).empty()) {
    // A job that ended meanwhile needs no adoption: its manifest is enough.
    queue.let_searches_wait();
    queue.start_daemon(earlier_crash(GetParam()));
    queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("first.mrc")));
    ASSERT_TRUE(queue.daemon_ends());
  }
  queue.start_daemon(GetParam());
  queue.margay(queue.enqueue_command(queue.make_micrograph("first.mrc")));
  queue.margay(queue.enqueue_command(queue.make_micrograph("second.mrc")));
  ASSERT_TRUE(queue.daemon_ends()) << GetParam() << " is never reached";
  EXPECT_EQ(queue.wait_for_daemon().signal, SIGABRT);
  queue.let_searches_go();
  queue.start_daemon();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("first.mrc")));
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("second.mrc")));
  expect_each_searched_once(queue, 2);
}

TEST(CrashAtOneItem, TwiceInARowPutsThatItemAsideAndTheOthersAreSearched) {
  QueueAtWork queue;
  queue.start_daemon();
  queue.add_template();
  queue.kill_daemon(SIGTERM);
  for (int crash = 0; crash < 2; ++crash) {
    queue.start_daemon("before-attempt-commit");
    if (crash == 0) queue.margay(queue.enqueue_command(queue.make_micrograph("poison.mrc")));
    ASSERT_TRUE(queue.daemon_ends());
    EXPECT_EQ(queue.wait_for_daemon().signal, SIGABRT);
  }
  queue.start_daemon();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("other.mrc")));
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  EXPECT_EQ(queue.item_states(), (std::map<int, std::string>{{1, "QUARANTINED"}, {2, "DONE"}}));
  EXPECT_THAT(queue.margay({"show", "1"}).output,
              ::testing::HasSubstr("2 times in a row while it prepared this item's job"));
}

// Nothing is submitted held here, nothing is wider than this machine, and nobody cancels: those
// points are hit by crash_test and by the tests with Slurm.
std::vector<std::string> points_of_local_jobs() {
  std::vector<std::string> points = scheduler::crash_point_names();
  std::erase_if(points, [](const std::string& point) {
    return point.find("release") != std::string::npos ||
           point.find("cancel") != std::string::npos || point.find("-stop") != std::string::npos;
  });
  return points;
}

INSTANTIATE_TEST_SUITE_P(Every, CrashPoint, ::testing::ValuesIn(points_of_local_jobs()),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace tests
