// The documented scenarios on a real Slurm of 16 nodes with 4 GPUs each: what the policy decides is
// what Slurm allocates. With MARGAY_LONG the real engine searches, else a stand-in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/io/mrc.h"
#include "tests/integration/slurm/slurm_queue.h"
#include "tests/integration/small_search.h"
#include "tests/require.h"
#include "tests/wait_until.h"

namespace tests {
namespace {

using testing::Each;

// By this rate a search of either engine takes days on a GPU, as long as none has been measured.
std::string site() {
  return "  backend: cpu\n  max_jobs: 500\n" + plain_options() +
         "rates: {stand-in: 1e-11}\n"
         "policy: {widths: chosen}\n";
}

// Sixty-four of them must leave the processors to Slurm.
constexpr const char* kWaits = "until [ -e \"$home/go\" ]; do sleep 1; done";

bool by_real_engine() { return std::getenv("MARGAY_LONG") != nullptr; }

// For 64 ranks of the real engine on two processors, or as many stand-ins.
std::chrono::minutes longest() { return std::chrono::minutes(by_real_engine() ? 10 : 2); }

struct Allocation {
  std::string nodes{};
  std::string gpus_of_each{};

  bool operator==(const Allocation&) const = default;
};

void PrintTo(const Allocation& allocation, std::ostream* out) {
  *out << allocation.nodes << " nodes, " << allocation.gpus_of_each;
}

class Scenarios : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    bed_ = std::make_unique<SlurmBed>(BedOptions{.accounting = false, .min_job_age = 3600});
    if (by_real_engine()) engine_ = program_for_jobs(engine_program(), bed_->files() + "/engine");
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override {
    if (!bed_) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    queue_ = std::make_unique<SlurmQueue>(*bed_, SiteOptions{.slurm = site()});
    if (by_real_engine()) {
      write_search();
    } else {
      queue_->let_search_do(kWaits);
    }
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    if (!HasFailure() || !queue_) return;
    std::cout << queue_->margay({"list"}).output << queue_->margay({"show", "1"}).output
              << queue_->margay({"logs", "1"}).output << queue_->kill_daemon(SIGKILL).error;
  }

  void write_search() const {
    const ScratchFolder& folder = queue_->folder();
    engine::write_mrc(folder / "volume.mrc", small_template(), 2.0);
    std::ofstream(folder / "search.yaml")
        << "optics_group: {label: small, pixel_size: 2.0, voltage: 300}\n"
           "defocus_search_config: {enabled: false}\n"
           "preprocessing_filters: {}\ncomputational_config: {gpu_ids: cpu}\n"
           "orientation_search_config: {psi_step: 20, theta_step: 20, symmetry: C1}\n";
    // The probe of the device has tests of its own.
    std::ofstream(folder / "engine")
        << "#!/bin/bash\n[ \"$1\" != selftest ] || exit 0\nexec '" << engine_ << "' \"$@\"\n";
  }
  std::string micrograph(int number) const {
    const std::string name = std::to_string(number) + ".mrc";
    if (!by_real_engine()) return queue_->make_micrograph(name);
    std::string path = queue_->folder() / name;
    engine::write_mrc(path, small_micrograph(), 2.0);
    return path;
  }
  // In one request, so that the policy sees all of them.
  void enqueue(int count, const std::string& priority) {
    std::vector<std::string> command = queue_->enqueue_command(micrograph(1));
    for (int i = count; i > 1; --i) command.insert(command.begin() + 2, micrograph(i));
    command.insert(command.end(), {"--same-ctf", "--priority", priority});
    const Finished done = queue_->margay(command);
    ASSERT_EQ(done.exit_code, 0) << done.error;
  }

  std::vector<std::string> jobs_that_run() const {
    std::istringstream lines(bed_->squeue({"--noheader", "--states=RUNNING", "--format=%i"}));
    std::vector<std::string> jobs;
    for (std::string job; lines >> job;) jobs.push_back(job);
    return jobs;
  }
  bool runs(size_t count) const {
    return becomes_true([&] { return jobs_that_run().size() == count; });
  }
  static Allocation allocation_of(const std::string& job) {
    std::string gpus = bed_->job_field(job, "TresPerNode");
    if (gpus.starts_with("gres/")) gpus[4] = ':';  // as newer versions write it
    return {bed_->job_field(job, "NumNodes"), gpus};
  }
  // Of the jobs of all items' first attempts, in the order of the items.
  std::vector<Allocation> allocations(int items) const {
    std::vector<Allocation> all;
    for (int item = 1; item <= items; ++item) {
      const nlohmann::json attempts = queue_->item(item).at("attempts");
      if (!attempts.empty()) all.push_back(allocation_of(attempts.at(0).at("job_id")));
    }
    return all;
  }
  std::set<std::string> shapes(int items) const {
    std::set<std::string> shapes;
    for (int item = 1; item <= items; ++item) {
      const nlohmann::json attempts = queue_->item(item).at("attempts");
      for (const auto& attempt : attempts) {
        shapes.insert(attempt.at("shape").get<std::string>());
      }
    }
    return shapes;
  }
  // The stand-in's searches end, and all items are done after one attempt each.
  void expect_all_done(int items) const {
    queue_->let_searches_go();
    EXPECT_TRUE(tests::becomes_true([&] { return queue_->all_ended(); }, longest()));
    for (int item = 1; item <= items; ++item) {
      const nlohmann::json shown = queue_->item(item);
      EXPECT_EQ(shown.at("state"), "DONE") << shown.dump(1);
      EXPECT_EQ(shown.at("attempts").size(), 1u);
    }
  }

  static std::unique_ptr<SlurmBed> bed_;
  static std::string engine_;
  std::unique_ptr<SlurmQueue> queue_;
};

std::unique_ptr<SlurmBed> Scenarios::bed_;
std::string Scenarios::engine_;

const Allocation kOneGpu{"1", "gres:gpu:1"};
const Allocation kOneNode{"1", "gres:gpu:4"};
const Allocation kAllNodes{"16", "gres:gpu:4"};

TEST_F(Scenarios, ABacklogGetsAGpuForEachItemAndNeverSeveralNodes) {
  constexpr int kItems = 100;
  enqueue(kItems, "normal");
  if (!by_real_engine()) {
    ASSERT_TRUE(runs(64)) << jobs_that_run().size();
    std::vector<Allocation> running;
    for (const std::string& job : jobs_that_run()) running.push_back(allocation_of(job));
    EXPECT_THAT(running, Each(kOneGpu));
  }
  expect_all_done(kItems);
  EXPECT_THAT(shapes(64), testing::ElementsAre("1 GPU"));
  // The last ones may get a node each.
  for (const Allocation& allocation : allocations(kItems)) EXPECT_EQ(allocation.nodes, "1");
}

TEST_F(Scenarios, AFewLowItemsGetAGpuEachSideBySide) {
  enqueue(3, "low");
  if (!by_real_engine()) {
    EXPECT_TRUE(runs(3));
  }
  expect_all_done(3);
  EXPECT_THAT(allocations(3), testing::ElementsAre(kOneGpu, kOneGpu, kOneGpu));
}

TEST_F(Scenarios, AFewNormalItemsGetANodeEachSideBySide) {
  enqueue(3, "normal");
  if (!by_real_engine()) {
    EXPECT_TRUE(runs(3));
  }
  expect_all_done(3);
  EXPECT_THAT(allocations(3), testing::ElementsAre(kOneNode, kOneNode, kOneNode));
}

TEST_F(Scenarios, UrgentItemsGetAllNodesOneAfterTheOther) {
  const int items = by_real_engine() ? 2 : 3;
  enqueue(items, "urgent");
  if (!by_real_engine()) {
    ASSERT_TRUE(runs(1));
    EXPECT_EQ(allocation_of(jobs_that_run().at(0)), kAllNodes);
  }
  expect_all_done(items);
  EXPECT_THAT(allocations(items), testing::SizeIs(items));
  EXPECT_THAT(allocations(items), Each(kAllNodes));
  for (int item = 2; item <= items; ++item) {
    const nlohmann::json before = queue_->attempt(item - 1);
    EXPECT_GE(queue_->attempt(item).at("started").get<int64_t>(),
              before.at("ended").get<int64_t>() - 1)
        << "whole seconds";
  }
}

}  // namespace
}  // namespace tests
