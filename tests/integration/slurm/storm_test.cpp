// Many items on a real Slurm while everything that can be killed is killed: each is searched to the
// end exactly once. Once is counted by what the engine itself wrote, never by the database.
// 24 items, or 200 with MARGAY_LONG=1.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

class Storm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 16});
    queue_ = std::make_unique<SlurmQueue>(*bed_);
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    if (!HasFailure() || !queue_) return;
    for (const auto& [item, state] : queue_->item_states()) {
      if (state != "DONE") std::cout << queue_->item(item).dump(1) << "\n";
    }
    std::cout << bed_->squeue({"-o", "%i %j %T %r"}) << queue_->margay({"status"}).output;
    const Finished killed = queue_->kill_daemon(SIGKILL);
    std::cout << log_ << killed.output << killed.error
              << text_of(bed_->folder() + "/log/slurm/slurmctld.log")
              << text_of(bed_->folder() + "/log/n01.log");
  }

  void kill_the_daemon() {
    const Finished killed = queue_->kill_daemon(SIGKILL);
    EXPECT_EQ(killed.signal, SIGKILL);
    log_ += killed.output + killed.error;
    queue_->start_daemon();
  }
  void restart_the_controller() {
    bed_->fault(Service::kController, Fault::kStop);
    bed_->fault(Service::kController, Fault::kStart);
  }
  void kill_the_controller() {
    bed_->fault(Service::kController, Fault::kKill);
    bed_->fault(Service::kController, Fault::kStart);
  }
  void kill_slurmrestd() {
    bed_->fault(Service::kRest, Fault::kKill);
    wait_for_a_problem();
    bed_->fault(Service::kRest, Fault::kStart);
  }
  void hang_slurmrestd() {
    bed_->fault(Service::kRest, Fault::kHang);
    wait_for_a_problem();
    bed_->fault(Service::kRest, Fault::kUnhang);
  }
  void let_the_token_expire() {
    bed_->rotate_token(1);
    wait_for_a_problem();
    bed_->rotate_token();
  }
  // The daemon has noticed.
  void wait_for_a_problem() {
    EXPECT_TRUE(QueueAtWork::becomes_true([&] { return !lane_problem().empty(); }));
  }
  std::string lane_problem() const {
    const Finished status = queue_->margay({"status", "--json"});
    if (status.exit_code != 0) return "";
    const nlohmann::json document = nlohmann::json::parse(status.output);
    return document.value("problem", "") + document.value("lane_hold", "");
  }

  std::string log_;  // of the daemons that were killed
  std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_F(Storm, EveryItemIsSearchedToTheEndOnce) {
  const bool is_long = std::getenv("MARGAY_LONG") != nullptr;
  const int items = is_long ? 200 : 24;
  std::vector<std::function<void()>> blows(is_long ? 10 : 4, [this] { kill_the_daemon(); });
  blows.insert(blows.begin() + 1, [this] { kill_slurmrestd(); });
  blows.insert(blows.begin() + 3, [this] { hang_slurmrestd(); });
  blows.insert(blows.begin() + 4, [this] { kill_the_controller(); });
  blows.insert(blows.begin() + 6, [this] { let_the_token_expire(); });
  blows.insert(blows.end(), [this] { restart_the_controller(); });

  std::mt19937 random(20241121);
  int enqueued = 0;
  for (size_t i = 0; i < blows.size(); ++i) {
    const int due = static_cast<int>((i + 1) * items / blows.size());
    for (; enqueued < due; ++enqueued) queue_->enqueue();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 800'000));
    blows[i]();
  }
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue_->all_ended(); }))
      << queue_->margay({"list"}).output;

  std::map<int, std::string> done;
  std::map<int, int> once;
  for (int item = 1; item <= items; ++item) {
    done[item] = "DONE";
    once[item] = 1;
  }
  EXPECT_EQ(queue_->item_states(), done) << queue_->margay({"list"}).output;
  EXPECT_EQ(queue_->effects("finished"), once);
  int started = 0;
  for (const auto& [item, times] : queue_->effects("started")) started += times;
  std::cout << items << " items, " << started << " searches begun, " << blows.size() << " blows\n";
}

}  // namespace
}  // namespace tests
