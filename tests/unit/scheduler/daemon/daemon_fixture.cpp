#include "tests/unit/scheduler/daemon/daemon_fixture.h"

#include "base/sha256.h"
#include "scheduler/files/disk_space.h"
#include "scheduler/files/file_io.h"
#include "scheduler/files/jobs_owner.h"
#include "tests/unit/scheduler/daemon/engine_files.h"

namespace scheduler {
namespace {

constexpr const char* kSearch =
    "optics_group: {pixel_size: 1.0, voltage: 300.0}\n"
    "orientation_search_config: {psi_step: 3.0}\n";

}  // namespace

DaemonFixture::DaemonFixture() {
  config_.state = folder_.file("state");
  config_.policy.widths = WidthsBy::kFixed;
  config_.engine = "/opt/margay-engine";
  config_.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
  std::filesystem::create_directories(config_.jobs());
  restart();
  commands_->add_template(user_, {.name = "ribosome",
                                  .volume = file_facts(folder_.write("volume.mrc", "volume")),
                                  .volume_sha256 = base::sha256_of_text("volume"),
                                  .search_yaml = kSearch});
}

std::vector<db::Attempt> DaemonFixture::attempts(int64_t id) {
  const db::AttemptStore store(*database_);
  std::vector<db::Attempt> attempts = store.of_item(id);
  for (db::Attempt& attempt : attempts) attempt.script = store.script(attempt.id);
  return attempts;
}

void DaemonFixture::restart() { restart_with_crash_at(""); }

void DaemonFixture::restart_with_crash_at(const std::string& point) {
  crash_at_ = point;
  daemon_.reset();
  commands_.reset();
  database_.reset();
  const CrashHook crash = [this](const std::string& name) {
    reached_.push_back(name);
    if (name != crash_at_) return;
    crash_at_.clear();
    throw Crash{};
  };
  database_ = std::make_unique<db::Database>(config_.database());
  claim_jobs(config_.jobs(), database_->instance());
  commands_ = std::make_unique<Commands>(
      *database_, clock_,
      CommandsOptions{.crash = crash, .plan = [this] { return daemon_->last_plan(); }});
  daemon_ = std::make_unique<Daemon>(
      config_, *database_, cluster_, clock_,
      DaemonOptions{.crash = crash,
                    .log = [this](const std::string& line) { log_.push_back(line); },
                    .free_bytes =
                        [this](const std::string& folder) {
                          return free_bytes_ ? *free_bytes_ : free_bytes(folder);
                        },
                    .file_threads = file_threads_,
                    .before_open = before_open_});
}

void DaemonFixture::read_micrographs() {
  while (daemon_->read_micrographs()) {
  }
}

bool DaemonFixture::tick() {
  clock_.pass(config_.intervals.tick);
  try {
    read_micrographs();
    daemon_->tick();
    return true;
  } catch (const Crash&) {
    return false;
  }
}

void DaemonFixture::ticks(int count) {
  for (int i = 0; i < count; ++i) ASSERT_TRUE(tick());
}

db::Item DaemonFixture::enqueue(const std::string& name, db::Priority priority,
                                const std::string& content) {
  const std::string path = folder_.write(name, content.empty() ? "micrograph " + name : content);
  const int64_t id = commands_
                         ->enqueue(user_, {.micrograph = file_facts(path),
                                           .template_name = "ribosome",
                                           .priority = priority,
                                           .ctf = {.defocus_u = 10000, .defocus_v = 9000}})
                         .id;
  read_micrographs();
  return item(id);
}

db::Item DaemonFixture::retry(int64_t id, RetryRequest request) {
  request.micrograph = file_facts(item(id).micrograph_path);
  return commands_->retry(user_, id, request);
}

void DaemonFixture::leave_manifest(const db::Attempt& attempt, const std::string& token) {
  tests::leave_engine_files(attempt.directory, token.empty() ? attempt.token : token,
                            attempt.config_sha256);
}

void DaemonFixture::finish(const db::Attempt& attempt) {
  leave_manifest(attempt);
  cluster_.end(attempt.token, slurm::JobState::kCompleted, 0);
}

void DaemonFixture::fail(const db::Attempt& attempt, int exit_code, const std::string& log) {
  std::ofstream(attempt.directory + "/job.log") << log;
  cluster_.end(attempt.token, slurm::JobState::kFailed, exit_code);
}

}  // namespace scheduler
