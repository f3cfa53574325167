// The real daemon removes what its users and its administrator want gone, and is killed meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/integration/queue_at_work.h"
#include "tests/integration/searched_once.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Housekeeping : public ::testing::Test {
 protected:
  // As many items, all DONE.
  void search(int items) {
    queue_.start_daemon();
    queue_.add_template();
    fs::create_directory(queue_.folder() / "grid");
    for (int item = 1; item <= items; ++item) {
      queue_.margay_until_done(
          queue_.enqueue_command(queue_.make_micrograph("grid/" + std::to_string(item) + ".mrc")));
    }
    expect_all_done(queue_, items);
  }
  std::string folder_of(int item) const {
    return queue_.folder() / ("state/jobs/" + std::to_string(item));
  }
  int folders(int items) const {
    int count = 0;
    for (int item = 1; item <= items; ++item) count += fs::exists(folder_of(item)) ? 1 : 0;
    return count;
  }
  bool all_folders_go(int items) const {
    return QueueAtWork::becomes_true([&] { return folders(items) == 0; });
  }
  // Once the cluster has been seen without the jobs.
  void remove_until_done(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"remove"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Finished last;
    EXPECT_TRUE(QueueAtWork::becomes_true([&] {
      last = queue_.margay(command);
      return last.exit_code == 0;
    })) << last.error;
  }

  // From the next start on.
  void retain(const std::string& retention) const {
    queue_.configure(kSite + ("retention: " + retention + "\n"));
  }

  static constexpr const char* kSite = "tick: 20ms\nlocal: {slots: 2, threads: 1}\n";
  QueueAtWork queue_{QueueOptions{.site = kSite}};
};

TEST_F(Housekeeping, RemovedItemsAreGoneForEverAndNoWatchTakesTheirFilesAgain) {
  search(3);
  remove_until_done({"1-2"});
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return !fs::exists(folder_of(1) + "/a1/job.sh"); }));
  EXPECT_TRUE(fs::exists(folder_of(1) + "/a1/manifest.json"));
  EXPECT_TRUE(fs::exists(folder_of(3) + "/a1/job.sh"));
  EXPECT_EQ(queue_.item_states(), (std::map<int, std::string>{{3, "DONE"}}));
  EXPECT_THAT(queue_.margay({"show", "1"}).error,
              AllOf(HasSubstr("it was removed by"), HasSubstr(folder_of(1) + "/a1")));
  const std::string watches = queue_.folder() / "watches.json";
  queue_.margay({"watch", "add", queue_.folder() / "grid", "--template", "volume", "--defocus-u",
                 "10200", "--defocus-v", "9800", "--astigmatism-angle", "35", "--same-ctf",
                 "--watches", watches});
  const std::vector<std::string> run = {"watch", "run",       "--once", "--settle",
                                        "50ms",  "--watches", watches};
  EXPECT_THAT(queue_.margay(run).error, HasSubstr("was item 1, which"));
  queue_.kill_daemon(SIGKILL);
  fs::remove(watches + ".taken");
  queue_.start_daemon();
  queue_.margay(run);
  EXPECT_EQ(queue_.item_states(), (std::map<int, std::string>{{3, "DONE"}}));
  EXPECT_EQ(queue_.effects("started").at(1), 1);
  remove_until_done({"1", "3", "--results"});
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return folders(3) == 1; }));
  EXPECT_FALSE(fs::exists(folder_of(1)));
  EXPECT_FALSE(fs::exists(folder_of(3)));
}

TEST_F(Housekeeping, AKillInBetweenLeavesFoldersWholeOrGoneAndTheNextStartGoesOn) {
  constexpr int kItems = 5;
  search(kItems);
  queue_.kill_daemon(SIGTERM);
  const std::vector<std::string> points = {"moved-for-removal:2", "before-removal",
                                           "after-removal"};
  for (const std::string& point : points) {
    queue_.start_daemon(point);
    if (point == points.front()) queue_.margay({"remove", "all", "--results"});
    ASSERT_TRUE(queue_.daemon_ends()) << point << " is never reached";
    EXPECT_EQ(queue_.wait_for_daemon().signal, SIGABRT);
    EXPECT_LT(folders(kItems), kItems - 1) << point;
    EXPECT_GT(folders(kItems), 0) << point;
    for (int item = 1; item <= kItems; ++item) {
      if (!fs::exists(folder_of(item))) continue;
      EXPECT_TRUE(fs::exists(folder_of(item) + "/a1/manifest.json")) << point;
      EXPECT_TRUE(fs::exists(folder_of(item) + "/a1/job.sh")) << point;
    }
  }
  queue_.start_daemon();
  EXPECT_TRUE(all_folders_go(kItems));
  EXPECT_TRUE(QueueAtWork::becomes_true(
      [&] { return !fs::exists(queue_.folder() / "state/jobs/.removed"); }));
  EXPECT_TRUE(queue_.item_states().empty());
  EXPECT_EQ(queue_.margay({"status"}).exit_code, 0);
}

// Ended in a transaction and after it, the next start finds all of the items or none.
TEST_F(Housekeeping, RetentionGoesOnWhereAKilledDaemonWas) {
  constexpr int kItems = 4;
  search(kItems);
  EXPECT_TRUE(QueueAtWork::becomes_true([&] {
    const auto dry = nlohmann::json::parse(
        queue_.margay({"remove", "all", "--dry-run", "--json"}).output, nullptr, false);
    if (dry.is_discarded()) return false;
    for (const auto& entry : dry.at("items")) {
      if (entry.contains("error")) return false;
    }
    return true;
  })) << "the cluster has seen no job as gone";
  queue_.kill_daemon(SIGTERM);
  retain("{age: 1s, results: remove}");
  queue_.start_daemon("before-retention-commit");
  ASSERT_TRUE(queue_.daemon_ends());
  EXPECT_EQ(queue_.wait_for_daemon().signal, SIGABRT);
  EXPECT_EQ(folders(kItems), kItems);
  queue_.start_daemon("after-retention-commit");
  ASSERT_TRUE(queue_.daemon_ends());
  EXPECT_EQ(queue_.wait_for_daemon().signal, SIGABRT);
  EXPECT_EQ(folders(kItems), kItems) << "their folders are removed after that";
  queue_.start_daemon("moved-for-removal:2");
  ASSERT_TRUE(queue_.daemon_ends());
  EXPECT_EQ(folders(kItems), kItems - 2);
  queue_.start_daemon();
  EXPECT_TRUE(all_folders_go(kItems));
  EXPECT_TRUE(queue_.item_states().empty());
  EXPECT_THAT(queue_.margay({"show", "1"}).error, HasSubstr("it was removed by margayd"));
}

TEST_F(Housekeeping, GcTakesOldFoldersWithoutARecordAlsoAfterAKill) {
  search(2);
  const auto leave_stray = [this](const std::string& name) {
    fs::create_directory(folder_of(2) + "/" + name);
    fs::last_write_time(folder_of(2) + "/" + name,
                        fs::file_time_type::clock::now() - std::chrono::hours(25));
  };
  leave_stray("a8");
  leave_stray("a9");
  const auto strays = [this](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"admin", "gc", "--json"};
    command.insert(command.end(), more.begin(), more.end());
    const Finished ended = queue_.margay(command);
    EXPECT_EQ(ended.exit_code, 0) << ended.error;
    return nlohmann::json::parse(ended.output).at("freed").at("no_record").at("count").get<int>();
  };
  EXPECT_EQ(strays({"--dry-run"}), 2);
  EXPECT_TRUE(fs::exists(folder_of(2) + "/a8"));
  queue_.kill_daemon(SIGTERM);
  queue_.start_daemon("moved-for-removal");
  EXPECT_NE(queue_.margay({"admin", "gc"}).exit_code, 0);
  ASSERT_TRUE(queue_.daemon_ends());
  EXPECT_FALSE(fs::exists(folder_of(2) + "/a8"));
  EXPECT_TRUE(fs::exists(folder_of(2) + "/a9"));
  queue_.start_daemon();
  EXPECT_EQ(strays({}), 1);
  EXPECT_FALSE(fs::exists(folder_of(2) + "/a9"));
  EXPECT_FALSE(fs::exists(queue_.folder() / "state/jobs/.removed"));
  EXPECT_TRUE(fs::exists(folder_of(1) + "/a1/job.sh"));
  EXPECT_TRUE(fs::exists(folder_of(2) + "/a1/job.sh"));
  EXPECT_THAT(queue_.margay({"admin", "gc", "--dry-run"}).output,
              AllOf(HasSubstr("WOULD FREE"), HasSubstr("nothing was removed")));
  expect_each_searched_once(queue_, 2);
}

TEST_F(Housekeeping, RetentionHoldsFromAReloadOn) {
  search(1);
  retain("{age: 1s, results: remove}");
  queue_.signal_daemon(SIGHUP);
  EXPECT_TRUE(all_folders_go(1));
  EXPECT_TRUE(queue_.item_states().empty());
}

TEST_F(Housekeeping, ABadRetentionIsRefusedAtTheStartAndNothingIsLost) {
  search(1);
  queue_.kill_daemon(SIGTERM);
  retain("{age: soon}");
  queue_.start_daemon();
  const Finished refused = queue_.wait_for_daemon();
  EXPECT_EQ(refused.exit_code, 78);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("retention.age"), HasSubstr("or never")));
  EXPECT_EQ(folders(1), 1);
}

}  // namespace
}  // namespace tests
