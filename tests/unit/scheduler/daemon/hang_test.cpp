// What the daemon answers while its cluster does not. A lock held across a call of the cluster
// would let these tests hang for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "base/sha256.h"
#include "db/items.h"
#include "scheduler/commands/commands.h"
#include "scheduler/daemon/daemon.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_cluster.h"
#include "tests/scratch_folder.h"

namespace scheduler {
namespace {

constexpr const char* kSearch =
    "optics_group: {pixel_size: 1.0, voltage: 300.0}\n"
    "orientation_search_config: {psi_step: 3.0}\n";

// Reports when a call is in it, and blocks that call until it is released.
class HangingInOneCall : public tests::FakeCluster {
 public:
  enum class Call { kStates, kSubmit };
  explicit HangingInOneCall(Call call, bool at_once = true) : hangs(at_once), call_(call) {}

  std::atomic<bool> hangs;

  std::future<void> reached() { return reached_.get_future(); }
  void let_go() { go_.set_value(); }

  slurm::Snapshot states() override {
    if (call_ == Call::kStates) hang();
    return FakeCluster::states();
  }
  slurm::SubmitResult submit(const slurm::JobRequest& request) override {
    if (call_ == Call::kSubmit) hang();
    return FakeCluster::submit(request);
  }

 private:
  void hang() {
    if (!hangs) return;
    reached_.set_value();
    go_.get_future().wait();
  }

  Call call_;
  std::promise<void> reached_;
  std::promise<void> go_;
};

class HangTest : public testing::TestWithParam<HangingInOneCall::Call> {};

TEST_P(HangTest, EverythingIsAnsweredWhileTheClusterHangs) {
  const tests::ScratchFolder folder;
  const tests::FakeClock clock;
  Config config;
  config.state = folder.file("state");
  config.engine = "/opt/margay-engine";
  config.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
  std::filesystem::create_directories(config.jobs());
  db::Database database(config.database());
  claim_jobs(config.jobs(), database.instance());
  HangingInOneCall cluster(GetParam());
  Daemon daemon(config, database, cluster, clock,
                {.free_bytes = [](const std::string&) { return int64_t{1} << 40; }});
  Commands commands(database, clock, {.plan = [&] { return daemon.last_plan(); }});
  const Caller ann{.uid = 1000, .name = "ann"};
  commands.add_template(ann, {.name = "ribosome",
                              .volume = file_facts(folder.write("volume.mrc", "volume")),
                              .volume_sha256 = base::sha256_of_text("volume"),
                              .search_yaml = kSearch});
  const auto enqueue = [&](const std::string& name) {
    return commands.enqueue(ann, {.micrograph = file_facts(folder.write(name, name)),
                                  .template_name = "ribosome",
                                  .ctf = {.defocus_u = 10000, .defocus_v = 9000}});
  };
  const int64_t first = enqueue("one.mrc").id;
  daemon.read_micrographs();
  auto reached = cluster.reached();
  std::thread round([&] { daemon.tick(); });
  reached.wait();
  EXPECT_EQ(db::ItemStore(database).list({}).size(), 1U);
  EXPECT_EQ(commands.show(first).item.id, first);
  const bool submits = GetParam() == HangingInOneCall::Call::kSubmit;
  EXPECT_THAT(commands.show(first).explanation,
              testing::HasSubstr(submits ? "only ready item of class normal"
                                         : "the daemon is making its first plan"));
  EXPECT_EQ(daemon.status().instance, database.instance());
  const int64_t second = enqueue("two.mrc").id;
  EXPECT_EQ(commands.hold(ann, second).state, db::ItemState::kHeld);
  cluster.let_go();
  round.join();
  EXPECT_EQ(commands.show(first).item.state, db::ItemState::kActive);
}

TEST_P(HangTest, AHangingTickIsAnsweredWithTheLastPlanAndItsAge) {
  const tests::ScratchFolder folder;
  tests::FakeClock clock;
  Config config;
  config.state = folder.file("state");
  config.engine = "/opt/margay-engine";
  config.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
  config.local.slots = 2;
  std::filesystem::create_directories(config.jobs());
  db::Database database(config.database());
  claim_jobs(config.jobs(), database.instance());
  HangingInOneCall cluster(GetParam(), false);
  Daemon daemon(config, database, cluster, clock,
                {.free_bytes = [](const std::string&) { return int64_t{1} << 40; }});
  Commands commands(database, clock, {.plan = [&] { return daemon.last_plan(); }});
  const Caller ann{.uid = 1000, .name = "ann"};
  commands.add_template(ann, {.name = "ribosome",
                              .volume = file_facts(folder.write("volume.mrc", "volume")),
                              .volume_sha256 = base::sha256_of_text("volume"),
                              .search_yaml = kSearch});
  const auto enqueue = [&](const std::string& name) {
    const auto id = commands
                        .enqueue(ann, {.micrograph = file_facts(folder.write(name, name)),
                                       .template_name = "ribosome",
                                       .ctf = {.defocus_u = 10000, .defocus_v = 9000}})
                        .id;
    daemon.read_micrographs();
    return id;
  };
  enqueue("one.mrc");
  daemon.tick();
  enqueue("two.mrc");
  const auto waiting = enqueue("three.mrc");
  if (GetParam() == HangingInOneCall::Call::kStates) daemon.tick();
  cluster.hangs = true;
  auto reached = cluster.reached();
  std::thread round([&] { daemon.tick(); });
  reached.wait();
  clock.pass(std::chrono::seconds(60));
  EXPECT_EQ(commands.show(waiting).explanation,
            "waits: next in the queue; 2 of 2 device slots busy; the plan is 60 seconds old, since "
            "the daemon waits for the cluster");
  EXPECT_EQ(daemon.status().plan_age, 60);
  EXPECT_EQ(commands.show(enqueue("four.mrc")).explanation,
            "not planned yet: the last plan is 60 seconds old, since the daemon waits for the "
            "cluster");
  cluster.hangs = false;
  cluster.let_go();
  round.join();
  daemon.tick();
  EXPECT_EQ(commands.show(waiting).explanation,
            "waits: next in the queue; 2 of 2 device slots busy");
}

INSTANTIATE_TEST_SUITE_P(InEachCall, HangTest,
                         testing::Values(HangingInOneCall::Call::kStates,
                                         HangingInOneCall::Call::kSubmit),
                         [](const auto& test) {
                           return test.param == HangingInOneCall::Call::kStates ? "states"
                                                                                : "submit";
                         });

}  // namespace
}  // namespace scheduler
