// The time limit of a job that runs whole: from what is known of searches like it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/scheduler/daemon/known_searches_fixture.h"

namespace scheduler {
namespace {

using db::Priority;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DaemonTimeLimitsTest : public KnownSearchesFixture {
 protected:
  void measured(int64_t runs) {
    KnownSearchesFixture::measured(runs);
    restart();
  }
  // Of an urgent one, on all 16 GPUs: (57,600 s / 16 + 65 s) 1.15 and 120 s for a checkpoint are
  // 72 minutes.
  std::string urgent_script() {
    const auto id = enqueue_known("a.mrc", Priority::kUrgent);
    ticks(2);
    return attempt(id).script;
  }
};

TEST_F(DaemonTimeLimitsTest, IsWhatNinetyFivePercentNeedAndAMargin) {
  measured(5);
  EXPECT_THAT(urgent_script(), HasSubstr("#SBATCH --time=01:15:00\n"));
}

TEST_F(DaemonTimeLimitsTest, IsThatOfTheOptionsWhileFewSearchesAreKnown) {
  measured(4);
  EXPECT_THAT(urgent_script(), Not(HasSubstr("--time=")));
}

TEST_F(DaemonTimeLimitsTest, IsNeverLongerThanTheSitesAndShorterWhereThatIsLong) {
  measured(5);
  config_.slurm.options = {{"time", "00:30:00"}};
  restart();
  EXPECT_THAT(urgent_script(), HasSubstr("#SBATCH --time=00:30:00\n"));
  config_.slurm.options = {{"time", "2-00:00:00"}};
  restart();
  const auto id = enqueue_known("b.mrc", Priority::kUrgent);
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=01:15:00\n"));
}

TEST_F(DaemonTimeLimitsTest, IsTheItemsOwnWhereItNamesOne) {
  measured(5);
  const auto id = enqueue_known("a.mrc", Priority::kUrgent);
  give_options(id, {{"time", "3-00:00:00"}});
  ticks(2);
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=3-00:00:00\n"));
}

TEST_F(DaemonTimeLimitsTest, IsThatOfTheOptionsForJobsThatAreUnlikeTheMeasuredOnes) {
  measured(5);
  const std::map<std::string, std::string> kUnlike[] = {
      {{"gpus", "1"}}, {{"partition", "main"}}, {{"constraint", "old"}}};
  for (const auto& options : kUnlike) {
    const auto id = enqueue_known(options.begin()->first + ".mrc", Priority::kUrgent);
    give_options(id, options);
    ticks(2);
    EXPECT_THAT(attempt(id).script,
                AllOf(HasSubstr("--" + options.begin()->first), Not(HasSubstr("--time="))));
  }
}

TEST_F(DaemonTimeLimitsTest, IsThatOfTheOptionsWhereWidthsAreFixed) {
  measured(5);
  config_.policy.widths = WidthsBy::kFixed;
  restart();
  EXPECT_THAT(urgent_script(), Not(HasSubstr("--time=")));
}

TEST_F(DaemonTimeLimitsTest, HasRoomForAnEarlierWarning) {
  measured(5);
  config_.slurm.options = {{"signal", "USR1@600"}};
  restart();
  EXPECT_THAT(urgent_script(), HasSubstr("#SBATCH --time=01:23:00\n"));
}

// 1.15 times the 52 minutes of a high one on four GPUs and a checkpoint are more than an hour.
TEST_F(DaemonTimeLimitsTest, OfABulkJobIsASegmentAtMost) {
  measured(5);
  {
    const std::scoped_lock lock(database_->mutex());
    database_->connection().execute("UPDATE templates SET orientations = 3400");
  }
  restart();
  const auto id = enqueue_known("a.mrc", Priority::kHigh);
  ticks(2);
  EXPECT_EQ(attempt(id).segment, 0);
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=01:02:00\n"));
}

TEST_F(DaemonTimeLimitsTest, GrowsAfterASearchThatReachedItUpToTheLongestOfTheSite) {
  measured(5);
  const auto id = enqueue_known("a.mrc", Priority::kUrgent);
  ticks(2);
  const auto time_out = [&] {
    cluster_.end(attempt(id).token, slurm::JobState::kTimeout, std::nullopt);
    ticks(1);
    clock_.pass(std::chrono::hours(1));
    cluster_.cluster_facts.site.now = clock_.now();
    ticks(2);
  };
  time_out();
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=01:52:30\n"));
  EXPECT_THAT(attempt(id).explanation, HasSubstr("with --time=01:52:30, since the last one was "
                                                 "stopped for its time"));
  config_.slurm.longest_time = 6000;
  restart();
  time_out();
  EXPECT_THAT(attempt(id).script, HasSubstr("#SBATCH --time=01:40:00\n"));
}

}  // namespace
}  // namespace scheduler
