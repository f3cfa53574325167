// Thousands of our jobs wait in a real Slurm: one daemon tracks them all with one listing a poll,
// in little memory (the sanitizers would need more).
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

constexpr int kJobs = 5000;

class Pending : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 2});
    queue_ = std::make_unique<SlurmQueue>(
        *bed_, SiteOptions{.slurm = "  shape: cpu\n  max_jobs: 6000\n  max_pending: 6000\n"
                                    "  options: {partition: closed}\n",
                           .timeout = "20s",
                           .resolve = "60s",
                           .vanish = "60s"});
    queue_->start_daemon();
    queue_->add_template();
  }

  void enqueue() {
    for (int first = 1; first <= kJobs; first += 500) {
      std::vector<std::string> command = queue_->enqueue_command(micrograph(first));
      command.push_back("--same-ctf");
      for (int i = first + 1; i < std::min(first + 500, kJobs + 1); ++i) {
        command.insert(command.begin() + 2, micrograph(i));
      }
      const Finished done = queue_->margay(command);
      ASSERT_EQ(done.exit_code, 0) << done.error;
    }
  }
  std::string micrograph(int number) const {
    return queue_->make_micrograph(std::to_string(number) + ".mrc");
  }

  // Thousands of submissions take minutes: it is over when there are no more of them.
  int jobs_at_last() const {
    int before = -1;
    int now = 0;
    while (now < kJobs && now > before) {
      before = now;
      QueueAtWork::becomes_true([&] {
        now = waiting();
        return now >= kJobs || now >= before + 200;
      });
    }
    return now;
  }
  int waiting() const {
    const std::string list = bed_->squeue({"-h", "-t", "PENDING", "-o", "%i"});
    return static_cast<int>(std::count(list.begin(), list.end(), '\n'));
  }
  nlohmann::json status() const {
    return nlohmann::json::parse(queue_->margay({"status", "--json"}).output);
  }

  std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_F(Pending, AllAreTrackedByOneDaemonInLittleMemory) {
  enqueue();
  ASSERT_EQ(jobs_at_last(), kJobs) << queue_->margay({"status"}).output;
  // Known from a listing, since nothing else gives a reason.
  EXPECT_TRUE(queue_->waits_for(1, "PartitionDown"));
  EXPECT_TRUE(queue_->waits_for(kJobs, "PartitionDown"));
  const int64_t peak = queue_->most_memory_kb();
  std::cout << kJobs << " jobs waiting, margayd at most " << peak / 1024 << " MiB\n"
            << queue_->margay({"status"}).output;
  EXPECT_LT(peak, kMostMemoryKb);
  // Still there, each once.
  EXPECT_EQ(waiting(), kJobs);
  EXPECT_TRUE(queue_->effects("started").empty());
}

}  // namespace
}  // namespace tests
