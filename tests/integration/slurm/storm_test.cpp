// Many items on a real Slurm while everything that can be killed is killed, and answers are lost or
// lie: each is searched to the end exactly once. Once is counted by what the engine itself wrote,
// never by the database. 24 items and 15 faults, or 200 and 43 with MARGAY_LONG=1.
// MARGAY_STORM_SEED decides the order and the times.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/slurm/lying_rest.h"
#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

class Storm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 16});
    rest_ = std::make_unique<LyingRest>(bed_->socket(), std::chrono::seconds(5));
    queue_ = std::make_unique<SlurmQueue>(*bed_, SiteOptions{.url = rest_->url()});
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
    memory_kb_ = std::max(memory_kb_, queue_->most_memory_kb());
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
  void hang_the_controller() {
    bed_->fault(Service::kController, Fault::kHang);
    wait_for_a_problem();
    bed_->fault(Service::kController, Fault::kUnhang);
  }
  // Its jobs are gone, and others get their ids.
  void start_the_controller_clean() {
    bed_->fault(Service::kController, Fault::kKill);
    bed_->fault(Service::kController, Fault::kStartClean);
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
  void lie(Lie lie, int count, bool submissions_only) { rest_->plan(lie, count, submissions_only); }
  // Where one runs; else the first node.
  std::string busy_node() const {
    const std::string names = bed_->squeue({"-t", "RUNNING", "-o", "%N"});
    return names.empty() ? "n01" : names.substr(0, names.find('\n'));
  }
  void kill_a_node() {
    const std::string node = busy_node();
    bed_->node(node, Fault::kKill);
    bed_->node(node, Fault::kStart);
  }
  void drain_a_node() {
    const std::string name = "nodename=" + busy_node();
    bed_->scontrol({"update", name, "state=drain", "reason=storm"});
    std::this_thread::sleep_for(std::chrono::seconds(1));
    // Slurm refuses it where the node is idle already, having been killed and come back.
    bed_->run({"scontrol", "update", name, "state=resume"});
  }
  void requeue_a_job() {
    const std::string jobs = bed_->squeue({"-t", "RUNNING", "-o", "%i"});
    // It may have ended meanwhile.
    if (!jobs.empty()) bed_->run({"scontrol", "requeue", jobs.substr(0, jobs.find('\n'))});
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

  int64_t memory_kb_ = 0;  // the most of a daemon
  std::string log_;        // of the daemons that were killed
  std::unique_ptr<SlurmBed> bed_;
  std::unique_ptr<LyingRest> rest_;
  std::unique_ptr<SlurmQueue> queue_;
};

TEST_F(Storm, EveryItemIsSearchedToTheEndOnce) {
  const bool is_long = std::getenv("MARGAY_LONG") != nullptr;
  const int items = is_long ? 200 : 24;
  const int many = is_long ? 1 : 0;
  const char* const seed = std::getenv("MARGAY_STORM_SEED");
  std::mt19937 random(seed == nullptr ? 20241121 : std::strtoul(seed, nullptr, 10));
  std::vector<std::function<void()>> blows;
  const auto add = [&](int count, const std::function<void()>& blow) {
    blows.insert(blows.end(), static_cast<size_t>(count), blow);
  };
  add(4 + 6 * many, [this] { kill_the_daemon(); });
  add(1 + 2 * many, [this] { kill_slurmrestd(); });
  add(1 + 1 * many, [this] { hang_slurmrestd(); });
  add(1 + 2 * many, [this] { kill_the_controller(); });
  add(1 + 2 * many, [this] { restart_the_controller(); });
  add(2 * many, [this] { hang_the_controller(); });
  add(1 * many, [this] { start_the_controller_clean(); });
  add(1 + 1 * many, [this] { let_the_token_expire(); });
  for (const Lie one : {Lie::kLoseRequest, Lie::kLoseAnswer, Lie::kCut, Lie::kLate, Lie::kGarble}) {
    add(1, [this, one] { lie(one, 3, true); });
    add(1 * many, [this, one] { lie(one, 3, false); });
  }
  add(1 + 1 * many, [this] { requeue_a_job(); });
  add(3 * many, [this] { kill_a_node(); });
  add(2 * many, [this] { drain_a_node(); });
  std::shuffle(blows.begin(), blows.end(), random);

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
  memory_kb_ = std::max(memory_kb_, queue_->most_memory_kb());
  std::cout << "says|" << items << " items, " << started << " searches begun, " << blows.size()
            << " faults, " << rest_->lies() << " answers that lied, "
            << rest_->lies_about_submissions() << " of them to submissions; margayd took at most "
            << memory_kb_ / 1024 << " MiB" << std::endl;
  EXPECT_GT(rest_->lies_about_submissions(), 0);
  if (kTrueMemory) {
    EXPECT_LT(memory_kb_, kMostMemoryKb);
  }
}

}  // namespace
}  // namespace tests
