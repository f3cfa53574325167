// Implements local_cluster.h: which of the waiting jobs start, and with which GPUs.
#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "slurm/job/job_rules.h"
#include "slurm/local/detached.h"
#include "slurm/local/local_cluster.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

// What the jobs of another cluster hold whose wrappers live. A folder that is being written or
// removed holds none.
std::vector<std::string> held_in(const fs::path& jobs) {
  std::vector<std::string> held;
  std::error_code none;  // such a folder
  for (const auto& entry : fs::directory_iterator(jobs, none)) {
    try {
      const JobFolder folder(entry.path());
      if (!folder.is_locked()) continue;
      for (std::string& id : gpus_in(folder)) held.push_back(std::move(id));
    } catch (const std::exception&) {
      continue;
    }
  }
  return held;
}

}  // namespace

// The record of its GPUs is there before the first of its wrappers, and stays as it is: so a
// wrapper of a daemon that was killed meanwhile starts the job with GPUs that nobody else is given.
FreeGpus LocalCluster::free_gpus(const std::vector<Job>& jobs) const {
  FreeGpus free(options_.gpus);
  for (const Job& job : jobs) {
    if (!job.ended) free.take(job.gpus);
  }
  if (!options_.neighbour.empty()) free.take(held_in(options_.neighbour));
  return free;
}

bool LocalCluster::is_on_its_way(const Job& job) const {
  const auto spawned = spawned_ms_.find(job.status.name);
  return job.waits && spawned != spawned_ms_.end() &&
         boot_clock_ms() - spawned->second < options_.start_grace.count();
}

// A wrapper on its way has its slot already; when it does not arrive, another one is sent, and its
// lock lets only one of them start the job. A job that waits for GPUs is not overtaken by one that
// needs fewer, or it might wait for ever.
void LocalCluster::start_waiting(std::vector<Job>& jobs) {
  int taken = 0;
  for (const Job& job : jobs) {
    const bool has_slot = (!job.ended && !job.waits) || is_on_its_way(job);
    if (has_slot && job.request.gpus == 0) ++taken;
  }
  for (const Job& job : jobs) {
    if (!job.ended || job.status.exit_code != kDeviceFault) continue;
    gpu_rests_.note(job.status.name, job.gpus, boot_clock_ms());
  }
  FreeGpus free = free_gpus(jobs);
  free.let_rest(gpu_rests_.resting(boot_clock_ms()));
  bool overtakes = false;
  for (Job& job : jobs) {
    if (!job.waits) continue;
    if (is_on_its_way(job)) {
      job.status.reason = "starting";
    } else if (job.request.gpus > 0) {
      if (job.gpus.empty() && overtakes) continue;
      const std::string missing = job.gpus.empty() ? give_gpus(job, free) : "";
      const bool can_ever = job.request.gpus <= static_cast<int>(options_.gpus.size());
      overtakes = overtakes || (!missing.empty() && can_ever);
      job.status.reason = missing.empty() ? start_wrapper(job.status.name) : missing;
    } else if (taken < options_.slots) {
      job.status.reason = start_wrapper(job.status.name);
      ++taken;
    }
  }
}

// "; GPU-5d5ba0d6 rests after a device fault"; empty: none does.
std::string LocalCluster::resting_gpus() const {
  std::vector<std::string> names;
  for (const auto& [gpu, failed] : gpu_rests_.resting(boot_clock_ms())) names.push_back(gpu);
  if (names.empty()) return "";
  return "; " + base::joined(names) + (names.size() == 1 ? " rests" : " rest") +
         " after a device fault";
}

// Returns why it gets none yet; empty: it has them.
std::string LocalCluster::give_gpus(const Job& job, FreeGpus& free) {
  const int has = static_cast<int>(options_.gpus.size());
  if (job.request.gpus > has) {
    return "asks for " + base::counted(job.request.gpus, "GPU") + ", and this machine has " +
           std::to_string(has) + ": it waits until there are as many; to give it up, cancel it";
  }
  if (!free.all_known()) {
    return "waiting: a running job holds a GPU under another kind of name (number, UUID) than the "
           "driver gives now, and which one that is cannot be known until it has ended";
  }
  const auto given = free.give(job.request.gpus);
  if (!given) {
    return "waiting for " + base::counted(job.request.gpus, "free GPU") + " (" +
           std::to_string(free.count()) + " of " + std::to_string(has) + " free" + resting_gpus() +
           ")";
  }
  try {
    JobFolder(path_of(job.status.name)).write(kGpusRecord, gpus_record(*given));
  } catch (const std::system_error& error) {
    return std::string("cannot write down its GPUs yet: ") + error.what();
  }
  return "";
}

// Returns the message for the user. One that cannot be started waits on: the next look tries again.
std::string LocalCluster::start_wrapper(const std::string& name) {
  const int error = run_detached({options_.helper.string(), "local", path_of(name).string()},
                                 path_of(name) / "wrapper.log");
  if (error != 0) {
    return "cannot start " + options_.helper.string() + " yet: " + std::strerror(error);
  }
  spawned_ms_[name] = boot_clock_ms();
  return "starting";
}

// A wrapper that was stopped would keep the slot of a job that has ended, for ever.
void LocalCluster::continue_wrapper(const Job& job) const {
  if (job.ended || !job.wrapper || !job.process || processes_.alive(*job.process)) return;
  if (!processes_of(job).empty()) return;
  processes_.signal(*job.wrapper, SIGCONT);
}

}  // namespace slurm
