#include "scheduler/daemon/evidence.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "scheduler/daemon/launcher.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/file_io.h"

namespace scheduler {
namespace {

constexpr int64_t kLogEnd = 64 * 1024;
constexpr int64_t kFullDisk = 1 << 20;

int64_t modified_ms(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return 0;
  return facts.st_mtim.tv_sec * 1000LL + facts.st_mtim.tv_nsec / 1'000'000;
}

// In the system's own words, which the engine and the shell pass on.
bool tells_of_full_disk(const std::string& error) {
  return error.find("No space left on device") != std::string::npos ||
         error.find("Disk quota exceeded") != std::string::npos;
}

// Stopped with no more done than the attempt whose checkpoint it began with.
bool made_no_progress(const db::Attempt& attempt) {
  if (access((attempt.directory + "/" + kCheckpointFile).c_str(), F_OK) != 0) return true;
  if (attempt.resume_from.empty()) return false;
  const std::string before = std::filesystem::path(attempt.resume_from).parent_path();
  return done_units(attempt.directory) <= done_units(before);
}

}  // namespace

bool has_manifest(const db::Attempt& attempt) {
  return access((attempt.directory + "/" + kManifestFile).c_str(), F_OK) == 0;
}

bool is_claim_alive(const DaemonContext& context, const db::Attempt& attempt) {
  int64_t newest = 0;
  for (const char* file : {kClaimFolder, kProgressFile, kCheckpointFile}) {
    newest = std::max(newest, modified_ms(attempt.directory + "/" + file));
  }
  return context.clock.now_ms() - newest < context.config.intervals.vanish_running.count();
}

void add_manifest(const ManifestReading& manifest, const db::Item& item, Evidence& evidence) {
  evidence.manifest = manifest.witness;
  evidence.manifest_problem = manifest.problem;
  if (manifest.witness != ManifestWitness::kAccepted) return;
  const std::string changed =
      how_changed(item.micrograph_path, item.micrograph_bytes, item.micrograph_mtime_ns);
  // Moved away after the search is nothing to us; other data is.
  if (changed.find("is missing") == std::string::npos) evidence.micrograph_changed = changed;
}

void add_end(const DaemonContext& context, const db::Attempt& attempt, Evidence& evidence) {
  evidence.error = last_error(read_end(attempt.directory + "/" + kLogFile, kLogEnd));
  evidence.disk_full =
      tells_of_full_disk(evidence.error) || context.free_bytes(context.config.jobs()) < kFullDisk;
  evidence.claim_alive = is_claim_alive(context, attempt);
  evidence.never_ran = access((attempt.directory + "/" + kClaimFolder).c_str(), F_OK) != 0;
  if (evidence.job->exit_code == 85) evidence.no_progress = made_no_progress(attempt);
}

}  // namespace scheduler
