#include "scheduler/daemon/evidence.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/checkpoint_text.h"
#include "base/other_content.h"
#include "base/untrusted_file.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/files/registered_file.h"
#include "scheduler/forecast/span_text.h"
#include "scheduler/states/host_exclusion.h"
#include "slurm/job_states.h"

namespace scheduler {
namespace {

constexpr int kBadInputCode = 64;
constexpr size_t kLogEnd = 64 * 1024;
constexpr size_t kLongestHost = 256;
constexpr int64_t kFullDisk = 1 << 20;

int64_t modified_ms(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return 0;
  return facts.st_mtim.tv_sec * 1000LL + facts.st_mtim.tv_nsec / 1'000'000;
}

// By the system's own words, which the engine and the shell pass on.
bool names_full_disk(const std::string& error) {
  return error.find("No space left on device") != std::string::npos ||
         error.find("Disk quota exceeded") != std::string::npos;
}

// True for an attempt that stopped no further than the checkpoint that it began with.
bool made_no_progress(const db::Attempt& attempt) {
  if (access((attempt.directory + "/" + kCheckpointFile).c_str(), F_OK) != 0) return true;
  if (attempt.resume_from.empty()) return false;
  const std::string before = std::filesystem::path(attempt.resume_from).parent_path();
  return done_units(attempt.directory) <= done_units(before);
}

// A micrograph that cannot be looked at (its rights, its file server) proves nothing, and must not
// keep its attempt open.
FoundFile find_micrograph(const DaemonContext& context, const db::Item& item) {
  SeenFile seen = context.micrographs->look(item.owner_uid, micrograph_of(item));
  if (seen.problem.empty()) return std::move(seen.found);
  return {.change = FileChange::kAway, .text = seen.problem};
}

void add_manifest(const DaemonContext& context, const ManifestReading& manifest,
                  const db::Item& item, Evidence& evidence) {
  evidence.manifest = manifest.witness;
  evidence.manifest_problem = manifest.problem;
  if (manifest.witness != ManifestWitness::kAccepted) return;
  // The hash says what was searched, whatever is in the micrograph's place after the search.
  const std::string& sha256 = item.micrograph_sha256;
  if (!sha256.empty()) {
    if (sha256 == manifest.micrograph_sha256) return;
    evidence.input_changed = problem_of(
        {.change = FileChange::kOther,
         .text = "the result is not accepted, since the manifest's SHA-256 is not that of "
                 "the registered '" +
                 item.micrograph_path + "'"});
    return;
  }
  // The micrograph was not read before its search: only the file can show what was searched. One
  // that was moved away after the search spoils nothing; one with other data does.
  const FoundFile found = find_micrograph(context, item);
  const bool other = found.change == FileChange::kOther || found.change == FileChange::kRenumbered;
  if (other) evidence.input_changed = problem_of(found);
}

// The cluster opens the log before it starts the script; the claim comes after the site's setup
// lines, which may take minutes.
bool has_begun(const db::Attempt& attempt) {
  return access((attempt.directory + "/" + kLogFile).c_str(), F_OK) == 0 ||
         access((attempt.directory + "/" + kClaimFolder).c_str(), F_OK) == 0;
}

// The last line that says that the job's memory did not suffice; empty when none does.
std::string memory_error(const std::string& log) {
  std::istringstream lines(log);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (says_out_of_memory(line)) found = line;
  }
  return found;
}

// A log that is no file is itself what went wrong.
void add_log(const db::Attempt& attempt, Evidence& evidence) {
  try {
    const std::string log = base::read_end_untrusted_in(attempt.directory, kLogFile, kLogEnd);
    evidence.error = last_error(log);
    evidence.memory_error = memory_error(log);
  } catch (const base::UnfitFile& error) {
    evidence.error = std::string("its log ") + error.what();
  }
}

// What the engine saw counts, whatever is in the file's place after it.
std::string other_content(const std::string& error, const db::Item& item,
                          const db::Template& search_template) {
  if (error.find(base::other_content_text(base::kMicrographHashKey)) != std::string::npos) {
    return problem_of({.change = FileChange::kOther,
                       .text = "'" + item.micrograph_path +
                               "' was not searched: its SHA-256 has changed since it was "
                               "registered"});
  }
  if (error.find(base::other_content_text(base::kVolumeHashKey)) != std::string::npos) {
    return "template volume '" + search_template.volume_path +
           "' was not used: its SHA-256 has changed since it was registered; register it as a new "
           "version";
  }
  return "";
}

// A job that was requeued resumes from the checkpoint of its own first run.
bool is_checkpoint_refused(const std::string& error, const db::Attempt& attempt) {
  const auto names = [&](const std::string& path) {
    return !path.empty() && error.find(base::checkpoint_text(path)) != std::string::npos;
  };
  return names(attempt.resume_from) || names(attempt.directory + "/" + kCheckpointFile);
}

// What matters only once the job is over.
void add_end(const DaemonContext& context, const db::Attempt& attempt, const db::Item& item,
             const db::Template& search_template, Evidence& evidence) {
  add_log(attempt, evidence);
  evidence.disk_full =
      names_full_disk(evidence.error) || context.free_bytes(context.config.jobs()) < kFullDisk;
  evidence.never_ran = !has_begun(attempt);
  if (evidence.job->exit_code == kBadInputCode) {
    if (evidence.input_changed.empty()) {
      evidence.input_changed = other_content(evidence.error, item, search_template);
    }
    evidence.checkpoint_refused = is_checkpoint_refused(evidence.error, attempt);
    const FoundFile found = find_micrograph(context, item);
    if (found.change == FileChange::kAway) evidence.away = found.text;
  }
  const bool at_limit = evidence.job->state == slurm::JobState::kTimeout;
  if (at_limit || evidence.job->exit_code == 85) evidence.no_progress = made_no_progress(attempt);
  if (attempt.segment > 0) evidence.segment = span_text(static_cast<double>(attempt.segment));
}

}  // namespace

bool has_manifest(const db::Attempt& attempt) {
  return access((attempt.directory + "/" + kManifestFile).c_str(), F_OK) == 0;
}

int64_t heartbeat_of(const db::Attempt& attempt) {
  int64_t newest = 0;
  for (const char* file : {kClaimFolder, kProgressFile, kCheckpointFile}) {
    newest = std::max(newest, modified_ms(attempt.directory + "/" + file));
  }
  return newest;
}

// For a job on several hosts, the script leaves the name of the one that failed, if it knows.
std::string host_of(const db::Attempt& attempt) {
  if (is_one_host(attempt.host)) return attempt.host;
  std::string host;
  try {
    host = base::read_end_untrusted_in(attempt.directory, kFailedHostFile, kLongestHost);
  } catch (const base::UnfitFile&) {
    return "";  // margay-job did not write it
  }
  host.erase(host.find_last_not_of('\n') + 1);
  const bool is_name = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  return is_name ? host : "";
}

bool has_passed_probe(const db::Attempt& attempt) {
  return access((attempt.directory + "/" + kProgressFile).c_str(), F_OK) == 0;
}

int64_t start_of(const db::Attempt& attempt) {
  return attempt.started > 0 ? attempt.started : attempt.submitted;
}

std::optional<double> share_searched(const db::Attempt& attempt) {
  if (made_no_progress(attempt)) return std::nullopt;
  const auto progress = progress_seen(attempt.directory);
  if (!progress || progress->total <= 0) return std::nullopt;
  const double share = static_cast<double>(progress->done) / static_cast<double>(progress->total);
  return std::clamp(share, 0.0, 1.0);
}

Evidence gather_evidence(const DaemonContext& context, const db::Attempt& attempt,
                         const db::Item& item, const db::Template& search_template,
                         const ManifestReading& manifest,
                         const std::optional<slurm::JobStatus>& job) {
  Evidence evidence{.job = job, .cancel_requested = item.cancel_requested};
  add_manifest(context, manifest, item, evidence);
  if (job && is_over(job->state)) add_end(context, attempt, item, search_template, evidence);
  return evidence;
}

}  // namespace scheduler
