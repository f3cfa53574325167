// The real daemon, killed at random instants: every item is searched, and searched once.
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

#include "tests/integration/queue_at_work.h"
#include "tests/integration/searched_once.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

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
