// The daemon's part is played by a process of our own, killed at random instants of a submission.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "slurm/local/local_cluster.h"
#include "tests/unit/slurm/local/local_jobs.h"

namespace slurm {
namespace {

class LocalClusterKilled : public LocalJobs {
 protected:
  static constexpr int kTimes = 50;
  std::mt19937 random_{20240611};

  int microseconds_up_to(int most) {
    return static_cast<int>(random_() % static_cast<unsigned>(most));
  }
};

TEST_F(LocalClusterKilled, AtAnyInstantOfASubmissionTheJobRunsExactlyOnce) {
  int found = 0;
  for (int i = 0; i < kTimes; ++i) {
    const std::string name = "margay-test-" + std::to_string(i) + "-a1";
    const JobRequest job = request(name, "exit 0");
    in_killed_process([&] { LocalCluster(options()).submit(job); }, microseconds_up_to(20'000));
    LocalCluster cluster(options());
    const auto jobs = cluster.find_by_name(name);
    ASSERT_TRUE(jobs);
    // What a daemon does with an answer it never got: adopt what is there, or submit again.
    found += static_cast<int>(jobs->size());
    if (jobs->empty()) {
      ASSERT_EQ(cluster.submit(job).outcome, SubmitOutcome::kAccepted);
    }
    ASSERT_TRUE(ends(cluster, name)) << i;
    EXPECT_EQ(status_of(cluster, name).state, JobState::kCompleted) << i;
    EXPECT_EQ(times_run(name), 1) << i;
    cluster.forget(name);
  }
  RecordProperty("found_after_the_kill", found);
  EXPECT_EQ(lines(folder_ / "ran").size(), static_cast<size_t>(kTimes));
}

TEST_F(LocalClusterKilled, AQueueOfJobsRunsEachOnceWhileItsDaemonIsKilledAgainAndAgain) {
  LocalClusterOptions two = options();
  two.slots = 2;
  {
    LocalCluster cluster(two);
    for (int i = 0; i < 12; ++i) cluster.submit(request("q" + std::to_string(i), "sleep 0.02"));
  }
  const auto look_for_ever = [&] {
    LocalCluster cluster(two);
    for (;;) cluster.states();
  };
  for (int i = 0; i < 20; ++i) in_killed_process(look_for_ever, microseconds_up_to(30'000));
  LocalCluster cluster(two);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "q" + std::to_string(i);
    ASSERT_TRUE(ends(cluster, name));
    EXPECT_EQ(status_of(cluster, name).state, JobState::kCompleted);
    EXPECT_EQ(times_run(name), 1);
  }
}

TEST_F(LocalClusterKilled, AnywhereInForgettingAJobItNeverRunsAgain) {
  for (int i = 0; i < kTimes; ++i) {
    const std::string name = "f" + std::to_string(i);
    {
      LocalCluster cluster(options());
      cluster.submit(request(name, "exit 0"));
      ASSERT_TRUE(ends(cluster, name));
    }
    in_killed_process([&] { LocalCluster(options()).forget(name); }, microseconds_up_to(3'000));
    LocalCluster cluster(options());
    cluster.states();
    const auto jobs = cluster.find_by_name(name);
    ASSERT_TRUE(jobs);
    for (const JobStatus& job : *jobs) EXPECT_EQ(job.state, JobState::kCompleted);
    EXPECT_EQ(times_run(name), 1);
  }
}

}  // namespace
}  // namespace slurm
