#include "slurm/local/local_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/environment.h"
#include "base/text.h"
#include "base/untrusted_file.h"
#include "slurm/job/job_rules.h"
#include "slurm/local/local_request.h"
#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"
#include "slurm/site_facts.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

// Folders that are not jobs: one being written, and one being removed.
constexpr const char* kUnfinished = ".new-";
constexpr const char* kRemoved = ".gone-";

// A cancellation whose record cannot be read counts as made long ago, so that the job is killed
// now.
Record cancel_record(const JobFolder& folder) {
  try {
    return folder.read("cancel").value_or(Record{});
  } catch (const base::UnfitFile&) {
    return {};
  }
}

// "on GPU-5d5ba0d6"; empty for a job on the processor.
std::string place_of(const std::vector<std::string>& gpus) {
  return gpus.empty() ? "" : "on " + base::joined(gpus);
}

void apply_exit(const ExitRecord& end, bool cancelled, int64_t limit_ms, JobStatus& status) {
  status.exit_code = end.exit_code;
  status.signal = end.signal;
  status.end_time = end.end_time;
  status.reason = end.message;
  if (end.exit_code == 0) {
    status.state = JobState::kCompleted;
  } else if (cancelled) {
    status.state = JobState::kCancelled;
    status.reason = "stopped on request";
  } else if (end.timed_out) {
    status.state = JobState::kTimeout;
    status.reason = "reached its time limit of " + time_text(limit_ms / 1000);
  } else if (end.out_of_memory) {
    status.state = JobState::kOutOfMemory;
    status.reason = "killed by the kernel, since this machine or its cgroup ran out of memory";
  } else {
    status.state = JobState::kFailed;
    if (end.signal) status.reason = "killed by signal " + std::to_string(*end.signal);
  }
}

}  // namespace

LocalCluster::LocalCluster(LocalClusterOptions options)
    : options_(std::move(options)),
      processes_(options_.proc, options_.boot_id),
      gpu_rests_(options_.gpu_rest) {
  if (options_.slots < 1) throw std::invalid_argument("local.slots must be at least 1");
  options_.folder = fs::absolute(options_.folder);
  if (options_.helper.empty()) {
    options_.helper = fs::read_symlink("/proc/self/exe").parent_path() / "margay-job";
  }
  options_.helper = fs::absolute(options_.helper);
  host_ = base::host_name();
  fs::create_directories(options_.folder);
  // What a killed daemon had not finished writing was never a job; what it had not finished
  // removing is one no more.
  for (const auto& entry : fs::directory_iterator(options_.folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kUnfinished) || name.starts_with(kRemoved)) fs::remove_all(entry.path());
  }
}

// The rename is the submission: before it there is no job, after it there is exactly one.
void LocalCluster::claim(const JobRequest& request) {
  const fs::path unfinished = options_.folder / (kUnfinished + request.name);
  fs::remove_all(unfinished);
  LocalRequest record = local_request_of(request, wall_clock_ns(), options_.kill_wait);
  // It sees the GPUs that it asks for and is given later, or else none.
  if (!options_.gpus.empty() && record.gpus == 0) record.environment["CUDA_VISIBLE_DEVICES"] = "";
  fs::create_directory(unfinished);
  {
    const JobFolder folder(unfinished);
    folder.write_text("job.sh", request.script);
    folder.write_text("lock", "");
    folder.write("request", to_record(record));
  }
  fs::rename(unfinished, path_of(request.name));
  base::sync_folder_of(path_of(request.name));
}

SubmitResult LocalCluster::submit(const JobRequest& request) {
  const SubmitResult accepted{
      .outcome = SubmitOutcome::kAccepted, .job_id = request.name, .message = ""};
  try {
    if (const auto refused = reason_to_refuse(request, options_.helper)) {
      return {.outcome = SubmitOutcome::kRejected, .job_id = "", .message = *refused};
    }
    if (const auto too_many = gpus_beyond(request, static_cast<int>(options_.gpus.size()))) {
      return SubmitResult::rejected(Refusal::kJob, *too_many);
    }
    if (!fs::exists(path_of(request.name))) {
      claim(request);
      std::vector<Job> jobs = all_jobs();
      start_waiting(jobs);
    }
    return accepted;
  } catch (const DirectiveError& error) {
    return SubmitResult::rejected(Refusal::kConfiguration, error.what());
  } catch (const std::system_error& error) {
    // Without its name there is no job; with it there is one, whatever failed afterwards.
    std::error_code unreadable;
    const fs::file_status there = fs::status(path_of(request.name), unreadable);
    const bool refused = there.type() == fs::file_type::not_found;
    return {.outcome = refused ? SubmitOutcome::kRejected : SubmitOutcome::kUnknown,
            .job_id = "",
            .message = std::string("cannot write the job's folder: ") + error.what()};
  }
}

// The order of the looks matters: what was started before its lock was seen free has no wrapper any
// more, and an exit record read after that is the last word.
LocalCluster::Job LocalCluster::observe(const std::string& name, const JobFolder& folder) const {
  const auto started = folder.read("started");
  const bool locked = folder.is_locked();
  const auto end = folder.read("exit");
  const bool cancelled = folder.has("cancel");
  Job job;
  job.request = to_local_request(folder.read("request").value_or(Record{}));
  if (const auto process = folder.read("job")) job.process = to_identity(*process);
  job.gpus = gpus_in(folder);
  job.status.job_id = name;
  job.status.name = name;
  job.status.host = host_;
  if (job.request.gpus > 0) job.status.gpus = job.request.gpus;
  job.status.submit_time = job.request.submitted_ns / 1'000'000'000;
  if (started) {
    job.status.start_time = number_of(*started, "time");
    job.wrapper = to_identity(*started);
  }
  if (end) {
    job.ended = true;
    apply_exit(to_exit_record(*end), cancelled, job.request.limit_ms, job.status);
    if (job.status.exit_code == kDeviceFault && !job.gpus.empty()) {
      const std::string& said = job.status.reason;
      job.status.reason = place_of(job.gpus) + (said.empty() ? "" : ": " + said);
    }
  } else if (locked) {
    job.status.state = started ? JobState::kRunning : JobState::kPending;
    job.status.reason = started ? place_of(job.gpus) : "starting";
  } else if (!started && cancelled) {
    job.ended = true;
    job.status.state = JobState::kCancelled;
    job.status.reason = "stopped on request before it started";
  } else if (!started) {
    job.waits = true;
    job.status.state = JobState::kPending;
    job.status.reason = job.request.gpus > 0 ? "waiting for free GPUs" : "waiting for a free slot";
  } else {
    judge_vanished(job);
    if (job.ended && cancelled) job.status.state = JobState::kCancelled;
    if (job.ended && text_of(*started, "boot_id") != processes_.boot_id()) {
      job.status.reason = "the machine restarted while the job ran";
    }
  }
  return job;
}

// A job with an unreadable record counts as failed once its processes have ended, so that the other
// jobs are still tracked.
LocalCluster::Job LocalCluster::look_at(const std::string& name) const {
  try {
    return observe(name, JobFolder(path_of(name)));
  } catch (const base::UnfitFile& error) {
    return changed_job(name, error.what());
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    if (code != EACCES && code != EPERM && code != ENOTDIR) throw;
    return changed_job(name, error.what());
  }
}

LocalCluster::Job LocalCluster::changed_job(const std::string& name, const std::string& why) const {
  Job job;
  job.status = {.job_id = name, .name = name};
  job.status.reason = "its folder was changed: " + why;
  try {
    const JobFolder folder(path_of(name));
    if (const auto process = folder.read("job")) job.process = to_identity(*process);
    job.gpus = gpus_in(folder);
  } catch (const std::exception&) {
    // Then nothing is known of its processes either.
  }
  job.ended = processes_of(job).empty();
  job.status.state = job.ended ? JobState::kFailed : JobState::kRunning;
  return job;
}

// The wrapper is gone without an exit record: the script may still be there.
void LocalCluster::judge_vanished(Job& job) const {
  if (!processes_of(job).empty()) {
    job.status.state = JobState::kRunning;
    job.status.reason = "its wrapper was killed; watched by its process";
    return;
  }
  job.ended = true;
  job.status.state = JobState::kNodeFail;
  job.status.reason = job.process ? "the job and its wrapper ended without an exit record"
                                  : "the wrapper ended before it started the job";
}

std::vector<ProcessIdentity> LocalCluster::processes_of(const Job& job) const {
  if (!job.process) return {};
  return processes_.session_of(*job.process, "MARGAY_JOB_NAME=" + job.status.name);
}

std::optional<LocalCluster::Job> LocalCluster::find(const std::string& name) const {
  if (!is_job_name(name) || !fs::exists(path_of(name))) return std::nullopt;
  return look_at(name);
}

std::vector<LocalCluster::Job> LocalCluster::all_jobs() const {
  std::vector<Job> jobs;
  for (const auto& entry : fs::directory_iterator(options_.folder)) {
    const std::string name = entry.path().filename().string();
    if (is_job_name(name) && entry.is_directory()) jobs.push_back(look_at(name));
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return std::pair(a.request.submitted_ns, a.status.name) <
           std::pair(b.request.submitted_ns, b.status.name);
  });
  return jobs;
}

Snapshot LocalCluster::states() {
  Snapshot snapshot;
  try {
    std::vector<Job> jobs = all_jobs();
    std::erase_if(jobs, [this](const Job& job) {
      continue_wrapper(job);
      if (!job.ended || !JobFolder(path_of(job.status.name)).has("forget")) return false;
      remove_folder(job.status.name);
      return true;
    });
    start_waiting(jobs);
    for (Job& job : jobs) snapshot.jobs.push_back(std::move(job.status));
    snapshot.complete = true;
  } catch (const std::system_error& error) {
    snapshot.problem = std::string("local cluster: ") + error.what();
  }
  return snapshot;
}

std::optional<std::vector<JobStatus>> LocalCluster::find_by_name(const std::string& name) {
  try {
    const auto job = find(name);
    return job ? std::vector{job->status} : std::vector<JobStatus>{};
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

// The wish is on the disk before it counts as taken: a wrapper that has not started the job yet
// never will then, and the time allowed to the job continues over a restart of the daemon.
bool LocalCluster::cancel(const std::string& job_id) {
  auto job = find(job_id);
  if (!job || job->ended) return true;
  if (job->process && asked_to_end_.insert(job_id).second) {
    for (const ProcessIdentity& process : processes_of(*job)) {
      processes_.signal(process, SIGTERM);
      // A stopped process receives it only once it continues.
      processes_.signal(process, SIGCONT);
    }
  }
  const JobFolder folder(path_of(job_id));
  if (!folder.has("cancel")) {
    folder.write("cancel", {{"boot_clock_ms", std::to_string(boot_clock_ms())}});
    job = look_at(job_id);
    return job->ended;
  }
  const int64_t asked = number_of(cancel_record(folder), "boot_clock_ms");
  const int64_t now = boot_clock_ms();
  if (now - asked >= options_.kill_wait.count()) {
    const auto left = processes_of(*job);
    for (const ProcessIdentity& process : left) processes_.signal(process, SIGKILL);
    if (left.empty() && job->wrapper) {
      // It may have been stopped, and still has the end to record, for which it has as long again.
      const int64_t since = without_processes_.try_emplace(job_id, now).first->second;
      const bool late = now - since >= options_.kill_wait.count();
      processes_.signal(*job->wrapper, late ? SIGKILL : SIGCONT);
    }
  }
  return false;
}

bool LocalCluster::signal_stop(const std::string& job_id) {
  const auto job = find(job_id);
  if (!job || job->ended) return false;
  bool asked = false;
  for (const ProcessIdentity& process : processes_of(*job)) {
    if (!processes_.handles(process, SIGUSR1)) continue;
    asked = processes_.signal(process, SIGUSR1) || asked;
  }
  return asked;
}

void LocalCluster::forget(const std::string& job_id) {
  const auto job = find(job_id);
  if (!job) return;
  if (job->ended) {
    remove_folder(job_id);
  } else {
    JobFolder(path_of(job_id)).write("forget", {});
  }
}

// Renamed first: half a folder would look like a job that never started.
void LocalCluster::remove_folder(const std::string& name) {
  const fs::path removed = options_.folder / (kRemoved + name);
  fs::rename(path_of(name), removed);
  fs::remove_all(removed);
  spawned_ms_.erase(name);
  gpu_rests_.forget(name);
  asked_to_end_.erase(name);
  without_processes_.erase(name);
}

std::string LocalCluster::test_only(const JobRequest&) {
  throw std::runtime_error(
      "the local cluster takes every job: it starts when a slot, or its GPUs, are free");
}

std::vector<Finding> LocalCluster::examine(const Examination&) {
  Findings findings;
  findings.good("cluster", describe());
  std::vector<std::string> names;
  for (const Gpu& gpu : options_.gpus) {
    names.push_back(gpu.model.empty() ? gpu.id : gpu.model + " (" + gpu.id + ")");
  }
  const std::string says =
      names.empty() ? "none: searches run on the processor" : base::joined(names);
  if (options_.gpus_note.empty()) {
    findings.good("GPUs", says);
  } else {
    findings.warn("GPUs", says + "; " + options_.gpus_note,
                  "if these are not the GPUs that searches are to have, see that `nvidia-smi -L` "
                  "lists them for the user that runs margayd, or set local.gpus");
  }
  return findings.all();
}

std::string LocalCluster::describe() const {
  int running = 0;
  int waiting = 0;
  const std::vector<Job> jobs = all_jobs();
  for (const Job& job : jobs) {
    if (job.waits) ++waiting;
    if (!job.waits && !job.ended) ++running;
  }
  const int gpus = static_cast<int>(options_.gpus.size());
  const std::string has = gpus == 0 ? base::counted(options_.slots, "slot")
                                    : base::counted(gpus, "GPU") + " (" +
                                          std::to_string(free_gpus(jobs).count()) + " free)";
  return "local cluster on " + host_ + ": " + has + ", " + std::to_string(running) + " running, " +
         std::to_string(waiting) + " waiting";
}

}  // namespace slurm
