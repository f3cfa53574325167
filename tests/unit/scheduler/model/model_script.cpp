// What the script templates do, on the files of an attempt: the fence, the claim, the search and
// its manifest.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/read_file.h"
#include "base/sha256.h"
#include "scheduler/files/attempt_folder.h"
#include "tests/unit/scheduler/daemon/engine_files.h"
#include "tests/unit/scheduler/model/model_cluster.h"
#include "tests/unit/scheduler/model/model_time.h"

namespace tests {
namespace {

namespace fs = std::filesystem;

int number_in(const std::string& path) {
  int number = 0;
  std::ifstream(path) >> number;
  return number;
}

}  // namespace

// In virtual time: the daemon asks how old a claim is.
void ModelCluster::touch(const std::string& path) const {
  const int64_t ms = kModelStartMs + now_ms_;
  const timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1'000'000};
  const timespec times[2] = {time, time};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

bool ModelCluster::is_fenced(const Job& job) const {
  return number_in(fs::path(job.folder).parent_path() / scheduler::kFenceFile) > job.number;
}

bool ModelCluster::take_claim(const Job& job) const {
  const std::string claim = job.folder + "/" + scheduler::kClaimFolder;
  if (mkdir(claim.c_str(), 0755) != 0) {
    std::string owner;
    int restarts = 0;
    std::ifstream(claim + "/owner") >> owner >> restarts;
    if (owner != job.status.job_id || job.status.restarts <= restarts) return false;
  }
  std::ofstream(claim + "/owner") << job.status.job_id << "\n" << job.status.restarts << "\n";
  touch(claim);
  return true;
}

void ModelCluster::begin_script(Job& job) {
  job.run = -1;
  job.exit_code = 0;
  job.claim_ms = 0;
  job.done_ms = now_ms_ + 1000;
  if (!fs::is_directory(job.folder)) {
    job.exit_code = 70;
  } else if (is_fenced(job)) {
    job.exit_code = 75;
  } else if (!fs::exists(job.folder + "/" + scheduler::kManifestFile)) {
    job.claim_ms = now_ms_ + random_.between(0, 3000);
  }
}

// The fence may have gone up since it was first looked at.
void ModelCluster::claim(Job& job) {
  job.claim_ms = 0;
  job.done_ms = now_ms_ + 1000;
  if (!take_claim(job)) {
    job.exit_code = 75;
  } else if (is_fenced(job)) {
    fs::remove_all(job.folder + "/" + scheduler::kClaimFolder);
    job.exit_code = 75;
  } else {
    begin_run(job);
  }
}

void ModelCluster::begin_run(Job& job) {
  for (const ModelRun& run : runs_) {
    if (run.token != job.status.name) continue;
    if (run.alive) violate("two runs of " + run.token + " at once");
    if (run.finished) violate(run.token + " is run again although it was finished");
  }
  const int current = number_in(fs::path(job.folder).parent_path() / scheduler::kFenceFile);
  for (const ModelRun& run : runs_) {
    if (run.alive && run.item == job.item && run.number >= current && run.number != job.number) {
      violate("two runs of item " + std::to_string(job.item) + " in effect at once");
    }
  }
  job.run = static_cast<int>(runs_.size());
  runs_.push_back({job.status.name, job.item, job.number, job.status.job_id});
  job.look_ms = now_ms_ + 10'000;
  const bool resumed = fs::exists(job.folder + "/" + scheduler::kCheckpointFile);
  job.done_ms = now_ms_ + random_.between(5000, resumed ? 60'000 : 200'000);
  if (!random_.chance(faults.fail)) return;
  ++faults_done_;
  blame(job);
  const int codes[] = {1, 2, 64, 70, 71, 85, 127, 139};
  job.exit_code = codes[random_.between(0, std::ssize(codes) - 1)];
}

void ModelCluster::finish_run(Job& job) {
  ModelRun& run = runs_[static_cast<size_t>(job.run)];
  const auto config = base::read_file(job.folder + "/" + scheduler::kEngineConfigFile);
  leave_engine_files(job.folder, job.status.name, base::sha256_of_text(config.value_or("")));
  touch(job.folder + "/" + scheduler::kManifestFile);
  run.alive = false;
  run.finished = true;
  job.run = -1;
}

void ModelCluster::stop_run(Job& job, bool checkpoint) {
  if (job.run < 0) return;
  runs_[static_cast<size_t>(job.run)].alive = false;
  job.run = -1;
  if (!checkpoint) return;
  const std::string path = job.folder + "/" + scheduler::kCheckpointFile;
  std::ofstream(path) << "checkpoint";
  touch(path);
}

}  // namespace tests
