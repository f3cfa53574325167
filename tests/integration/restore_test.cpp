// A database that is put back to an earlier state, with a real daemon and real jobs: what was
// submitted in between is not submitted again. How often a search ran is counted by the searches
// themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/json.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSite =
    "tick: 20ms\nlocal: {slots: 2, threads: 1}\n"
    "intervals: {resolve: 100ms, retry: 100ms, vanish_pending: 1s, vanish_running: 1s}\n";

class RestoreTest : public testing::Test {
 protected:
  RestoreTest() {
    queue_.start_daemon();
    queue_.add_template();
  }

  // Its search waits until let_go().
  void enqueue(int item) {
    const std::string gate = "go" + std::to_string(item);
    queue_.let_search_do("while [ ! -e \"$home/" + gate + "\" ]; do sleep 0.02; done", item);
    enqueue_free(item);
  }
  void enqueue_free(int item) {
    queue_.margay_until_done(
        queue_.enqueue_command(queue_.make_micrograph(std::to_string(item) + ".mrc")));
  }
  void let_go(int item) const {
    std::ofstream(queue_.folder() / ("go" + std::to_string(item))) << "go";
  }
  bool starts(int item, int times = 1) const {
    return QueueAtWork::becomes_true([&] { return queue_.effects("started")[item] == times; });
  }
  bool becomes(int item, const std::string& state) const {
    return QueueAtWork::becomes_true([&] {
      const auto states = queue_.item_states();
      const auto found = states.find(item);
      return found != states.end() && found->second == state;
    });
  }
  Finished restore() const {
    return run_program({MARGAY_BIN_DIR "/margay", "admin", "restore", copy_, "--config",
                        queue_.folder() / "site.yaml", "--json"},
                       queue_.folder().path());
  }

  QueueAtWork queue_{QueueOptions{.site = kSite}};
  const std::string copy_ = queue_.folder() / "copy.db";
};

TEST_F(RestoreTest, NothingThatRunsOrHasEndedIsSubmittedAgain) {
  // At the time of the copy 1 and 2 run and 3 and 4 wait.
  queue_.let_search_do(
      "[ -e \"$home/failed\" ] || { touch \"$home/failed\"; while [ ! -e "
      "\"$home/go1\" ]; do sleep 0.02; done; exit 1; }",
      1);
  enqueue_free(1);
  enqueue(2);
  ASSERT_TRUE(starts(1));
  ASSERT_TRUE(starts(2));
  enqueue(3);
  enqueue(4);
  const Finished made = queue_.margay({"admin", "backup", copy_});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_EQ(restore().exit_code, 6) << "while the daemon runs";
  // After it 1 fails and is done in its second attempt, 2 and 3 are done, 4 runs, and so does 5, of
  // which the copy knows nothing.
  let_go(1);
  let_go(2);
  let_go(3);
  for (const int item : {1, 2, 3}) ASSERT_TRUE(becomes(item, "DONE")) << item;
  ASSERT_TRUE(starts(4));
  enqueue(5);
  ASSERT_TRUE(starts(5));
  queue_.kill_daemon(SIGTERM);

  const Finished restored = restore();
  ASSERT_EQ(restored.exit_code, 0) << restored.error;
  const auto document = nlohmann::json::parse(restored.output);
  EXPECT_EQ(document.at("looked_up"), (nlohmann::json{1, 3, 4}));
  EXPECT_EQ(document.at("unknown_items"), (nlohmann::json{5}));

  queue_.start_daemon();
  for (const int item : {1, 2, 3}) EXPECT_TRUE(becomes(item, "DONE")) << item;
  EXPECT_TRUE(becomes(4, "ACTIVE")) << "its job runs on";
  EXPECT_TRUE(QueueAtWork::becomes_true([&] {
    return queue_.daemon_log().find("-5-a1) has no open attempt: stopped") != std::string::npos;
  }));
  let_go(4);
  EXPECT_TRUE(becomes(4, "DONE"));
  enqueue_free(6);
  EXPECT_TRUE(becomes(6, "DONE")) << "the number of the lost item does not return";
  EXPECT_EQ(queue_.effects("started"),
            (std::map<int, int>{{1, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}}));
  EXPECT_EQ(queue_.effects("finished"),
            (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {6, 1}}));
  const Finished verified = queue_.margay({"admin", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.output;
  queue_.kill_daemon(SIGTERM);
}

// What ended without a result, and of which the cluster remembers nothing, is tried again.
TEST_F(RestoreTest, AnAttemptThatLeftNothingIsFollowedByAnother) {
  enqueue(1);
  enqueue(2);
  ASSERT_TRUE(starts(1));
  ASSERT_TRUE(starts(2));
  enqueue(3);
  ASSERT_EQ(queue_.margay({"admin", "backup", copy_}).exit_code, 0);
  let_go(1);
  let_go(2);
  ASSERT_TRUE(starts(3));
  EXPECT_EQ(queue_.margay({"cancel", "3"}).exit_code, 0);
  ASSERT_TRUE(becomes(3, "CANCELLED"));
  queue_.kill_daemon(SIGTERM);
  ASSERT_EQ(restore().exit_code, 0);
  let_go(3);
  queue_.start_daemon();
  EXPECT_TRUE(becomes(3, "DONE"));
  const auto shown = nlohmann::json::parse(queue_.margay({"show", "3", "--json"}).output);
  const auto& attempts = shown.at("item").at("attempts");
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts.at(0).at("state"), "NEVER_STARTED");
  EXPECT_EQ(attempts.at(1).at("state"), "DONE");
  EXPECT_EQ(queue_.effects("started").at(3), 2);
  queue_.kill_daemon(SIGTERM);
}

// What `margay remove` leaves of an item is its result, which the daemon takes again.
TEST_F(RestoreTest, AnItemThatWasRemovedAfterTheCopyReturnsAsDone) {
  enqueue(1);
  ASSERT_TRUE(starts(1));
  enqueue(2);
  ASSERT_EQ(queue_.margay({"admin", "backup", copy_}).exit_code, 0);
  let_go(1);
  let_go(2);
  ASSERT_TRUE(becomes(2, "DONE"));
  ASSERT_EQ(queue_.margay({"remove", "2"}).exit_code, 0);
  const std::filesystem::path attempt = queue_.folder() / "state/jobs/2/a1";
  ASSERT_TRUE(QueueAtWork::becomes_true(
      [&]() -> bool { return !std::filesystem::exists(attempt / "job.sh"); }));
  ASSERT_TRUE(std::filesystem::exists(attempt / "manifest.json"));
  queue_.kill_daemon(SIGTERM);
  ASSERT_EQ(restore().exit_code, 0);
  queue_.start_daemon();
  EXPECT_TRUE(becomes(2, "DONE"));
  EXPECT_EQ(queue_.effects("started"), (std::map<int, int>{{1, 1}, {2, 1}}));
  queue_.kill_daemon(SIGTERM);
}

TEST_F(RestoreTest, OfADamagedDatabaseBringsTheQueueBack) {
  enqueue(1);
  ASSERT_TRUE(starts(1));
  ASSERT_EQ(queue_.margay({"admin", "backup", copy_}).exit_code, 0);
  queue_.kill_daemon(SIGKILL);
  for (const char* file : {"margay.db", "margay.db-wal"}) {
    std::ofstream(queue_.folder() / ("state/" + std::string(file))) << std::string(8192, 'x');
  }
  queue_.start_daemon();
  ASSERT_FALSE(queue_.daemon_runs());
  EXPECT_THAT(queue_.wait_for_daemon().error, HasSubstr("restore it from a backup"));
  const Finished restored = restore();
  ASSERT_EQ(restored.exit_code, 0) << restored.error;
  EXPECT_THAT(restored.output, AllOf(HasSubstr("before-restore-"), HasSubstr("not a database")));
  let_go(1);
  queue_.start_daemon();
  EXPECT_TRUE(becomes(1, "DONE"));
  EXPECT_EQ(queue_.effects("started").at(1), 1);
  queue_.kill_daemon(SIGTERM);
}

}  // namespace
}  // namespace tests
