// The real engine on a real Slurm: a rank for each GPU of several nodes gives the maps of one
// process, whoever starts it, wherever the ranks meet, and whoever is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/io/mrc.h"
#include "tests/integration/rank_group.h"
#include "tests/integration/slurm/slurm_queue.h"
#include "tests/require.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Long enough to be disturbed.
#ifdef __SANITIZE_ADDRESS__
constexpr const char* kSteps = "{psi_step: 6, theta_step: 12, symmetry: C1}";
#else
constexpr const char* kSteps = "{psi_step: 3, theta_step: 8, symmetry: C1}";
#endif

// Kills rank 1 as soon as there is a checkpoint.
constexpr const char* kRank1Dies = R"(if [ "$SLURM_PROCID" = 1 ]; then
  (until [ -e search.mgc ]; do kill -0 $$ || exit; sleep 0.01; done; kill -KILL $$) 2>/dev/null &
fi
exec "$@")";

// In place of the engine for margayd. The probe of the device has tests of its own. On one node the
// search stands still from its first checkpoint on until it is asked to stop.
constexpr const char* kStandsStillOnOneNode = R"(#!/bin/bash
[ "$1" != selftest ] || exit 0
folder=$(dirname "$2")
[ "$SLURM_JOB_NUM_NODES" = 1 ] || exec "$engine" "$@"
"$engine" "$@" &
trap 'kill -CONT $!' USR1
until [ -e "$folder/checkpoint.mgc" ]; do kill -0 $! || break; sleep 0.01; done
kill -STOP $! && touch "$folder/stands-still"
while wait $!; code=$?; kill -0 $! 2>/dev/null; do :; done
exit "$code"
)";

struct Step {
  int nodes = 2;
  std::vector<std::string> engine{};  // its options
  std::vector<std::string> srun{};
  std::string task = "exec \"$@\"";  // what each task does with the engine's command
};

class SlurmRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmBed::missing().empty()) return;
    // Where the ranks meet, and how they know each other, comes of the job's number: not the same
    // as on another bed of this machine.
    const std::string first_job = std::to_string(1 + getpid() % 60'000);
    bed_ = std::make_unique<SlurmBed>(BedOptions{.nodes = 4,
                                                 .gpus = 2,
                                                 .accounting = false,
                                                 .host_names = SlurmBed::can_name_hosts(),
                                                 .conf = {"FirstJobId=" + first_job}});
    engine_ = program_for_jobs(engine_program(), bed_->files() + "/engine");
    SmallSearch search;
    search.sections["orientation_search_config"] = kSteps;
    const Finished f = search.match();
    ASSERT_EQ(f.exit_code, 0) << f.error;
    reference_ = map_pixels(search);
    for (const std::string& map : reference_) ASSERT_FALSE(map.empty());
  }
  static void TearDownTestSuite() { bed_.reset(); }
  void SetUp() override {
    if (!SlurmBed::missing().empty()) MARGAY_SKIP_FOR_WANT_OF("slurm", SlurmBed::missing());
    ASSERT_FALSE(reference_.empty()) << "there is no bed, or no reference";
  }

  // One rank for each GPU, as the jobs' user.
  static Finished run(SmallSearch& search, const Step& step) {
    search.sections["orientation_search_config"] = kSteps;
    search.write_config();
    give_file(search.folder(), bed_->user());
    std::vector<std::string> command{"srun",
                                     "--nodes=" + std::to_string(step.nodes),
                                     "--ntasks=" + std::to_string(2 * step.nodes),
                                     "--ntasks-per-node=2",
                                     "--gpus-per-task=1",
                                     "--time=5",
                                     "--chdir=" + search.folder()};
    command.insert(command.end(), step.srun.begin(), step.srun.end());
    command.insert(command.end(), {"bash", "-c", step.task, "task", engine_, "match", "search.yaml",
                                   "--backend", "cpu", "--threads", "1", "--overwrite"});
    command.insert(command.end(), step.engine.begin(), step.engine.end());
    return bed_->run(command, bed_->user());
  }

  static void expect_same_maps(const SmallSearch& search) {
    EXPECT_TRUE(map_pixels(search) == reference_) << "the maps differ";
  }
  static bool is_done(const SmallSearch& search) {
    return fs::exists(search.file("out/manifest.json"));
  }
  static int number_of(const std::string& manifest, const std::string& name) {
    return nlohmann::json::parse(text_of(manifest)).at("counts").at(name);
  }

  static std::unique_ptr<SlurmBed> bed_;
  static std::string engine_;
  static std::vector<std::string> reference_;  // the maps of one process
};

std::unique_ptr<SlurmBed> SlurmRanks::bed_;
std::string SlurmRanks::engine_;
std::vector<std::string> SlurmRanks::reference_;

const std::vector<std::string> kCheckpoint{"--checkpoint", "search.mgc",     "--checkpoint-every",
                                           "50ms",         "--rank-timeout", "10s"};

TEST_F(SlurmRanks, MeetByWhatSlurmSaysAlone) {
  if (!SlurmBed::can_name_hosts()) {
    MARGAY_SKIP_FOR_WANT_OF("hosts", "the right to give the nodes' names to what runs on them");
  }
  for (const int nodes : {2, 4}) {
    SmallSearch search;
    const Finished f = run(search, {.nodes = nodes});
    EXPECT_EQ(f.exit_code, 0) << f.error;
    EXPECT_THAT(text_of(search.file("out/manifest.json")),
                HasSubstr("\"rank\": " + std::to_string(2 * nodes - 1)));
    expect_same_maps(search);
  }
}

TEST_F(SlurmRanks, MeetByASharedFileAlone) {
  SmallSearch search;
  const Finished f = run(search, {.nodes = 4, .engine = {"--rendezvous", "file:meeting"}});
  EXPECT_EQ(f.exit_code, 0) << f.error;
  expect_same_maps(search);
}

TEST_F(SlurmRanks, EndWhenOneIsKilledAndAreResumedByAnotherNumberOfNodes) {
  for (int tries = 0; tries < 10; ++tries) {
    SmallSearch search;
    Step step{.engine = kCheckpoint, .task = kRank1Dies};
    step.engine.insert(step.engine.end(), {"--rendezvous", "file:meeting"});
    const Finished f = run(search, step);
    if (is_done(search)) continue;
    EXPECT_NE(f.exit_code, 0);
    EXPECT_THAT(f.error, HasSubstr("rank 1"));
    ASSERT_TRUE(fs::exists(search.file("search.mgc"))) << f.error;
    step.nodes = 3;
    step.task = Step().task;
    step.engine.insert(step.engine.end(), {"--resume", "search.mgc"});
    const Finished resumed = run(search, step);
    EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
    EXPECT_GT(number_of(search.file("out/manifest.json"), "resumed_units"), 0);
    expect_same_maps(search);
    return;
  }
  FAIL() << "no search was disturbed";
}

TEST_F(SlurmRanks, ContinueWithoutALostOneWhereTheyAndSlurmMay) {
  for (int tries = 0; tries < 10; ++tries) {
    SmallSearch search;
    Step step{
        .engine = kCheckpoint, .srun = {"--kill-on-bad-exit=0", "--wait=0"}, .task = kRank1Dies};
    step.engine.insert(step.engine.end(),
                       {"--rendezvous", "file:meeting", "--on-rank-loss", "continue"});
    const Finished f = run(search, step);
    ASSERT_TRUE(is_done(search)) << f.error;
    expect_same_maps(search);
    if (f.error.find("the others go on without it") != std::string::npos) return;
  }
  FAIL() << "no search was disturbed";
}

// From a micrograph in the queue to its maps, by margayd and its templates.
class PromotedSearch : public SlurmRanks, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    SlurmRanks::SetUp();
    if (IsSkipped() || HasFailure()) return;
    queue_ = std::make_unique<SlurmQueue>(
        *bed_,
        SiteOptions{.slurm = "  urgent_shape: nodes\n  nodes: 2\n  gpus_per_node: 2\n"
                             "  backend: cpu\n  launcher: " +
                             GetParam() + "\n" + plain_options() +
                             "checkpoint_every: 50ms\n"
                             "policy: {widths: chosen, classes: {urgent: {least: 2 nodes}}}\n"});
    const ScratchFolder& folder = queue_->folder();
    engine::write_mrc(folder / "1.mrc", small_micrograph(), 2.0);
    engine::write_mrc(folder / "volume.mrc", small_template(), 2.0);
    std::ofstream(folder / "search.yaml")
        << "optics_group: {label: small, pixel_size: 2.0, voltage: 300}\n"
           "defocus_search_config: {enabled: false}\n"
           "preprocessing_filters: {}\ncomputational_config: {gpu_ids: cpu}\n"
           "orientation_search_config: "
        << kSteps << "\n";
    std::string script = kStandsStillOnOneNode;
    script.insert(script.find('\n') + 1, "engine='" + engine_ + "'\n");
    std::ofstream(folder / "engine") << script;
    queue_->start_daemon();
    queue_->add_template();
  }
  void TearDown() override {
    if (!HasFailure() || !queue_) return;
    std::cout << queue_->item(1).dump(1) << queue_->margay({"logs", "1"}).output
              << queue_->kill_daemon(SIGKILL).error;
  }

  std::string folder_of(int attempt) const {
    return fs::path(queue_->item(1)
                        .at("attempts")
                        .at(static_cast<size_t>(attempt - 1))
                        .at("directory")
                        .get<std::string>());
  }
  // The maps of the same search by one undisturbed process.
  static std::vector<std::string> maps_of_one_process(const std::string& attempt) {
    const ScratchFolder folder;
    std::string config = text_of(attempt + "/config.yaml");
    for (size_t at; (at = config.find(attempt)) != std::string::npos;) {
      config.replace(at, attempt.size(), folder.path());
    }
    const Finished f = run_program({engine_program(), "match", folder.write("config.yaml", config),
                                    "--backend", "cpu", "--threads", "1"},
                                   folder.path());
    EXPECT_EQ(f.exit_code, 0) << f.error;
    return map_pixels_in(folder.path());
  }

  std::unique_ptr<SlurmQueue> queue_;
};

INSTANTIATE_TEST_SUITE_P(Launcher, PromotedSearch, testing::Values("task", "node"),
                         [](const auto& launcher) { return launcher.param; });

TEST_P(PromotedSearch, GoesOnFromItsCheckpointOnTwoNodesToTheMapsOfOneProcess) {
  const int item = queue_->enqueue();
  ASSERT_TRUE(SlurmQueue::becomes_true([&] {
    return !queue_->attempt(item).is_null() && fs::exists(folder_of(1) + "/stands-still");
  }));
  EXPECT_EQ(queue_->margay({"promote", std::to_string(item), "--priority", "urgent"}).exit_code, 0);
  ASSERT_TRUE(SlurmQueue::becomes_true([&] { return queue_->state_of(item) == "DONE"; }));
  const nlohmann::json attempts = queue_->item(item).at("attempts");
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts.at(0).at("state"), "CHECKPOINTED");
  EXPECT_EQ(attempts.at(0).at("shape"), "1 GPU");
  EXPECT_EQ(attempts.at(1).at("shape"), "2 nodes (4 GPUs)");
  const std::string wide = folder_of(2);
  EXPECT_GT(number_of(wide + "/manifest.json", "resumed_units"), 0);
  EXPECT_THAT(text_of(wide + "/manifest.json"), HasSubstr("\"rank\": 3"));
  const std::vector<std::string> maps = maps_of_one_process(wide);
  EXPECT_FALSE(maps.front().empty());
  EXPECT_TRUE(map_pixels_in(wide) == maps) << "the maps differ";
}

}  // namespace
}  // namespace tests
