// The real daemon, killed at random instants and at every crash point: every item is searched, and
// searched once. Once is counted by what the engine itself wrote, never by the database.
// MARGAY_LONG=1 repeats the storm many more times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/crash_point.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

std::map<int, int> once_each(int items) {
  std::map<int, int> counts;
  for (int item = 1; item <= items; ++item) counts[item] = 1;
  return counts;
}

void expect_all_done(const QueueAtWork& queue, int items) {
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  std::map<int, std::string> done;
  for (int item = 1; item <= items; ++item) done[item] = "DONE";
  EXPECT_EQ(queue.item_states(), done) << queue.margay({"list"}).output;
}

void expect_each_searched_once(const QueueAtWork& queue, int items) {
  expect_all_done(queue, items);
  EXPECT_EQ(queue.effects("started"), once_each(items));
  EXPECT_EQ(queue.effects("finished"), once_each(items));
}

TEST(KillStorm, EveryItemIsSearchedOnceAlthoughTheDaemonIsKilledAgainAndAgain) {
  const bool is_long = std::getenv("MARGAY_LONG") != nullptr;
  const int items = is_long ? 150 : 12;
  const int kills = is_long ? 200 : 10;
  std::mt19937 random(20240611);
  QueueAtWork queue;
  queue.start_daemon();
  queue.add_template();
  int enqueued = 0;
  for (int i = 0; i < kills; ++i) {
    for (const int due = (i + 1) * items / kills; enqueued < due; ++enqueued) {
      queue.margay_until_done(
          queue.enqueue_command(queue.make_micrograph(std::to_string(enqueued) + ".mrc")));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 250'000));
    const Finished killed = queue.kill_daemon(SIGKILL);
    EXPECT_EQ(killed.signal, SIGKILL) << "exit code " << killed.exit_code << ": " << killed.error;
    queue.start_daemon();
  }
  expect_each_searched_once(queue, items);
}

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

// Nothing is submitted held here, and nobody cancels: those points are hit by crash_test and by
// the tests with Slurm.
std::vector<std::string> points_of_local_jobs() {
  std::vector<std::string> points = scheduler::crash_point_names();
  std::erase_if(points, [](const std::string& point) {
    return point.find("release") != std::string::npos || point.find("cancel") != std::string::npos;
  });
  return points;
}

INSTANTIATE_TEST_SUITE_P(Every, CrashPoint, ::testing::ValuesIn(points_of_local_jobs()),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(KillStorm, StoppingTheDaemonLeavesJobsRunningAndTheyAreCollectedAfterwards) {
  QueueAtWork queue;
  queue.let_searches_wait();
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.make_micrograph("one.mrc")));
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return queue.effects("started").size() == 1; }));
  const Finished stopped = queue.kill_daemon(SIGTERM);
  EXPECT_EQ(stopped.exit_code, 0) << stopped.error;
  EXPECT_TRUE(queue.effects("finished").empty());
  queue.let_searches_go();
  ASSERT_TRUE(QueueAtWork::becomes_true([&] { return queue.effects("finished").size() == 1; }))
      << "the job ended with its daemon";
  queue.start_daemon();
  expect_each_searched_once(queue, 1);
}

TEST(KillStorm, ARealSearchSurvivesTheDaemonAndBringsItsPeakList) {
  QueueAtWork queue(MARGAY_BIN_DIR "/margay-engine", 1);
  fs::copy_file(MARGAY_TEST_DATA "/lsu_2.0A_128.mrc", queue.folder() / "volume.mrc",
                fs::copy_options::overwrite_existing);
  fs::copy_file(MARGAY_TEST_DATA "/unit_384x500.mrc", queue.folder() / "one.mrc");
  queue.start_daemon();
  queue.add_template();
  queue.margay_until_done(queue.enqueue_command(queue.folder() / "one.mrc"));
  ASSERT_TRUE(QueueAtWork::becomes_true(
      [&] { return fs::exists(queue.folder() / "state/jobs/1/a1/claim"); }));
  queue.kill_daemon(SIGKILL);
  queue.start_daemon();
  expect_all_done(queue, 1);
  EXPECT_TRUE(fs::exists(queue.folder() / "state/jobs/1/a1/peaks.csv"));
  EXPECT_FALSE(fs::exists(queue.folder() / "state/jobs/1/a2"));
}

}  // namespace
}  // namespace tests
