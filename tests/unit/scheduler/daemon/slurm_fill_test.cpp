// How fast an idle cluster fills, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "slurm/rate_limit.h"
#include "tests/unit/scheduler/daemon/slurm_fixture.h"

namespace scheduler {
namespace {

// So many cores, each for one job. A job starts half a second after its submission if there is a
// free core. Listings are 10 s apart, and every request is counted.
class CoreCluster : public tests::FakeCluster {
 public:
  CoreCluster(const Clock& clock, int cores, int per_minute)
      : clock_(clock), cores_(cores), budget_(per_minute, clock.now_ms()) {
    first_state = slurm::JobState::kPending;
  }

  slurm::SubmitResult submit(const slurm::JobRequest& request) override {
    spend();
    slurm::SubmitResult result = FakeCluster::submit(request);
    jobs.back().host.clear();
    jobs.back().submit_time = clock_.now_ms();
    return result;
  }
  slurm::Snapshot states() override {
    fresh = !listed_ms_ || clock_.now_ms() - *listed_ms_ >= 10'000;
    if (fresh) {
      spend();
      listed_ms_ = clock_.now_ms();
      start();
    }
    return FakeCluster::states();
  }
  std::optional<slurm::JobState> look(const std::string& job_id) override {
    spend();
    ++looks;
    start();
    for (const slurm::JobStatus& job : jobs) {
      if (job.job_id == job_id) return job.state;
    }
    return std::nullopt;
  }
  int allowance() override { return budget_.left(clock_.now_ms()); }

  int running() {
    start();
    return static_cast<int>(std::count_if(jobs.begin(), jobs.end(), [](const auto& job) {
      return job.state == slurm::JobState::kRunning;
    }));
  }
  int most_in_a_minute() const { return most_; }
  int looks = 0;

 private:
  void spend() {
    const int64_t now = clock_.now_ms();
    if (!budget_.take(now)) throw std::logic_error("a request beyond the site's limit");
    asked_ms_.push_back(now);
    while (asked_ms_.front() <= now - slurm::kMinuteMs) asked_ms_.pop_front();
    most_ = std::max(most_, static_cast<int>(asked_ms_.size()));
  }
  void start() {
    int busy = 0;
    for (slurm::JobStatus& job : jobs) {
      const bool waited = clock_.now_ms() - job.submit_time >= 500;
      if (job.state == slurm::JobState::kPending && waited && busy < cores_) {
        job.state = slurm::JobState::kRunning;
        job.host = "n1";
      }
      if (job.state == slurm::JobState::kRunning) ++busy;
    }
  }

  const Clock& clock_;
  int cores_;
  slurm::RequestBudget budget_;
  std::optional<int64_t> listed_ms_;
  std::deque<int64_t> asked_ms_;
  int most_ = 0;
};

class DaemonFillTest : public SlurmFixture {
 protected:
  DaemonFillTest() { config_.slurm.max_jobs = 200; }
  void run_for(Daemon& daemon, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock_.pass(std::chrono::seconds(1));
      daemon.tick();
    }
  }
};

TEST_F(DaemonFillTest, AnIdleClusterIsFullWithinAMinuteAndWithinTheRequestsAllowed) {
  enqueue_many(300);
  CoreCluster cores(clock_, 64, 120);
  Daemon daemon(config_, *database_, cores, clock_);
  run_for(daemon, 60);
  EXPECT_EQ(cores.running(), 64);
  EXPECT_LE(cores.most_in_a_minute(), 120);
  EXPECT_EQ(daemon.status().problem, "");
}

TEST_F(DaemonFillTest, AFullClusterIsNotAskedAboutEachJob) {
  enqueue_many(60);
  CoreCluster cores(clock_, 8, 120);
  Daemon daemon(config_, *database_, cores, clock_);
  run_for(daemon, 120);
  EXPECT_EQ(cores.running(), 8);
  EXPECT_EQ(cores.requests.size(), 8U + 4U) << "and as many wait as may";
  const int looks = cores.looks;
  EXPECT_LE(looks, 8);
  run_for(daemon, 120);
  EXPECT_EQ(cores.looks, looks);
}

}  // namespace
}  // namespace scheduler
