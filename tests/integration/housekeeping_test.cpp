// The real daemon removes what its users and its administrator want gone, and is killed meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  QueueAtWork queue_;
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

}  // namespace
}  // namespace tests
