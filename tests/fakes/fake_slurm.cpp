#include "tests/fakes/fake_slurm.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/fakes/fake_slurm_process.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kTick{5};
constexpr int kLaunchFailure = 4021;  // the wait status that Slurm shows of a job not launched

int64_t steady_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t wall_ms() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

FakeSlurm::FakeSlurm(FakeSlurmOptions options) : options_(std::move(options)) {
  fs::create_directories(options_.folder + "/bin");
  const std::string srun = options_.folder + "/bin/srun";
  fs::copy_file(MARGAY_SOURCE_DIR "/tests/fakes/fake_srun.sh", srun,
                fs::copy_options::overwrite_existing);
  fs::permissions(srun, fs::perms::owner_all);
  thread_ = std::thread([this] { run(); });
}

FakeSlurm::~FakeSlurm() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
  const auto kill_all = [](const Process& process) {
    if (process.leader == 0) return;
    while (!members_of_session(process.leader).empty()) {
      signal_session(process.leader, SIGKILL);
      std::this_thread::sleep_for(kTick);
    }
    waitpid(process.leader, nullptr, 0);
  };
  for (const auto& [id, process] : processes_) kill_all(process);
  for (const Process& process : lost_) kill_all(process);
}

void FakeSlurm::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    for (auto& [id, process] : processes_) watch(process);
    for (Process& process : lost_) watch(process);
    std::erase_if(lost_, [](const Process& process) { return process.leader == 0; });
    start_pending();
    std::erase_if(processes_, [this](const auto& entry) {
      const Process& process = entry.second;
      return process.job.over() && process.leader == 0 && !process.job.completing &&
             steady_ms() - process.ended_ms >= options_.min_job_age.count();
    });
    changed_.wait_for(lock, kTick);
  }
}

int64_t FakeSlurm::submit(const FakeJobRequest& request) {
  const std::scoped_lock lock(mutex_);
  Process process;
  process.serial = next_serial_++;
  process.job.id = next_id_++;
  process.job.request = request;
  process.job.submitted_ms = wall_ms();
  process.job.reason = request.hold ? "JobHeldUser" : "None";
  process.not_before_ms = steady_ms() + options_.start_delay.count();
  record(process);
  return processes_.emplace(process.job.id, process).first->first;
}

std::vector<FakeJob> FakeSlurm::jobs() const {
  const std::scoped_lock lock(mutex_);
  std::vector<FakeJob> jobs;
  for (const auto& [id, process] : processes_) jobs.push_back(process.job);
  return jobs;
}

std::optional<FakeJob> FakeSlurm::job(int64_t id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = processes_.find(id);
  return found == processes_.end() ? std::nullopt : std::optional(found->second.job);
}

std::vector<FakeJob> FakeSlurm::accounting(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  std::vector<FakeJob> jobs;
  for (const auto& [serial, entries] : accounting_) {
    const auto newest = std::find_if(entries.rbegin(), entries.rend(), [](const Entry& entry) {
      return entry.due_ms <= steady_ms();
    });
    if (newest == entries.rend()) continue;
    if (name.empty() || newest->job.request.name == name) jobs.push_back(newest->job);
  }
  return jobs;
}

int FakeSlurm::alive() const {
  const std::scoped_lock lock(mutex_);
  const auto is_alive = [](const auto& entry) {
    return !entry.second.job.over() || entry.second.leader != 0;
  };
  return static_cast<int>(std::count_if(processes_.begin(), processes_.end(), is_alive) +
                          static_cast<long>(lost_.size()));
}

int FakeSlurm::starts() const {
  const std::scoped_lock lock(mutex_);
  return starts_;
}

bool FakeSlurm::set_held(int64_t id, bool held) {
  const std::scoped_lock lock(mutex_);
  Process* process = find(id);
  if (process == nullptr) return false;
  process->job.request.hold = held;
  if (process->job.state == "PENDING") process->job.reason = held ? "JobHeldUser" : "None";
  record(*process);
  return true;
}

bool FakeSlurm::cancel(int64_t id) {
  const std::scoped_lock lock(mutex_);
  Process* process = find(id);
  if (process == nullptr) return false;
  if (process->job.state == "PENDING" && process->leader == 0) {
    process->ends_as = "CANCELLED";
    settle(*process);
  } else if (!process->job.over()) {
    process->requeued = false;
    end(*process, "CANCELLED");
  }
  return true;
}

bool FakeSlurm::signal_steps(int64_t id, int number) {
  const std::scoped_lock lock(mutex_);
  Process* process = find(id);
  if (process == nullptr) return false;
  if (process->leader != 0) tests::signal_steps(process->leader, number);
  return true;
}

// What ran is killed, as the nodes do with a job that the controller does not know; in accounting
// it stays for ever as it was last.
void FakeSlurm::forget_jobs_of_the_last(milliseconds time) {
  const std::scoped_lock lock(mutex_);
  const int64_t since = wall_ms() - time.count();
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    Process& process = entry->second;
    if (process.job.submitted_ms < since) {
      ++entry;
      continue;
    }
    next_id_ = std::min(next_id_, process.job.id);
    if (process.leader != 0) {
      signal_session(process.leader, SIGKILL);
      process.serial = 0;
      lost_.push_back(process);
    }
    entry = processes_.erase(entry);
  }
  while (processes_.contains(next_id_)) ++next_id_;
}

void FakeSlurm::requeue_youngest() {
  const std::scoped_lock lock(mutex_);
  Process* process = youngest_running();
  if (process == nullptr) return;
  process->requeued = true;
  end(*process, "PENDING");
}

void FakeSlurm::kill_node_of_youngest() {
  const std::scoped_lock lock(mutex_);
  Process* process = youngest_running();
  if (process == nullptr) return;
  signal_session(process->leader, SIGKILL);
  end(*process, "NODE_FAIL");
}

void FakeSlurm::purge() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(processes_, [](const auto& entry) {
    return entry.second.job.over() && entry.second.leader == 0;
  });
}

FakeSlurm::Process* FakeSlurm::find(int64_t id) {
  const auto found = processes_.find(id);
  return found == processes_.end() ? nullptr : &found->second;
}

FakeSlurm::Process* FakeSlurm::youngest_running() {
  Process* youngest = nullptr;
  for (auto& [id, process] : processes_) {
    if (process.job.state != "RUNNING") continue;
    if (youngest == nullptr || process.serial > youngest->serial) youngest = &process;
  }
  return youngest;
}

void FakeSlurm::record(const Process& process) {
  if (process.serial == 0) return;
  accounting_[process.serial].push_back(
      {steady_ms() + options_.accounting_lag.count(), process.job});
}

// Its processes are asked to go; what it then is it becomes at once, with COMPLETING beside it.
void FakeSlurm::end(Process& process, const std::string& as) {
  signal_session(process.leader, SIGCONT);
  signal_session(process.leader, SIGTERM);
  process.asked_to_end_ms = steady_ms();
  process.ends_as = as;
  process.job.state = as;
  if (process.requeued) {
    process.job.reason = "BeginTime";
    ++process.job.restarts;
  } else {
    process.job.completing = true;
    process.job.ended_ms = wall_ms();
  }
  record(process);
}

void FakeSlurm::watch(Process& process) {
  if (process.leader == 0) {
    if (process.job.completing && steady_ms() - process.ended_ms >= options_.completing.count()) {
      process.job.completing = false;
      record(process);
    }
    return;
  }
  notice_end_of_leader(process);
  watch_time(process);
  if (process.asked_to_end_ms > 0 &&
      steady_ms() - process.asked_to_end_ms >= options_.kill_wait.count()) {
    signal_session(process.leader, SIGKILL);
  }
  if (!process.leader_ended) return;
  if (!members_of_session(process.leader).empty()) {
    if (process.asked_to_end_ms == 0) {
      signal_session(process.leader, SIGTERM);
      process.asked_to_end_ms = steady_ms();
    }
    return;
  }
  waitpid(process.leader, nullptr, 0);
  process.leader = 0;
  settle(process);
}

// Its wait status is kept; it stays a zombie until the last process of its session is gone, so that
// the session's number is not another's.
void FakeSlurm::notice_end_of_leader(Process& process) {
  siginfo_t info = {};
  const auto leader = static_cast<id_t>(process.leader);
  if (process.leader_ended || waitid(P_PID, leader, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return;
  }
  process.leader_ended = true;
  process.job.wait_status = info.si_code == CLD_EXITED   ? info.si_status << 8
                            : info.si_code == CLD_DUMPED ? info.si_status | 0x80
                                                         : info.si_status;
}

void FakeSlurm::watch_time(Process& process) {
  if (process.job.request.minutes <= 0 || process.leader_ended || !process.ends_as.empty()) return;
  const int64_t minute = options_.minute.count();
  const int64_t limit = process.job.request.minutes * minute;
  const int64_t warning = process.job.request.warning_seconds * minute / 60;
  const int64_t ran = steady_ms() - process.started_ms;
  if (process.job.request.warning_signal != 0 && !process.warned && ran >= limit - warning) {
    process.warned = true;
    tests::signal_steps(process.leader, process.job.request.warning_signal);
  }
  if (ran >= limit) end(process, "TIMEOUT");
}

// The job has no process any more, or never had one.
void FakeSlurm::settle(Process& process) {
  FakeJob& job = process.job;
  process.ended_ms = steady_ms();
  if (process.requeued) {
    process = Process{.job = job,
                      .serial = process.serial,
                      .not_before_ms = steady_ms() + options_.requeue_delay.count()};
    process.job.wait_status = 0;
    process.job.started_ms = 0;
    process.job.nodes.clear();
    process.job.batch_host.clear();
    record(process);
    return;
  }
  if (!process.ends_as.empty()) {
    job.state = process.ends_as;
  } else {
    job.state = job.wait_status == 0 ? "COMPLETED" : "FAILED";
    const bool signalled = (job.wait_status & 0x7f) != 0;
    if (job.wait_status != 0) job.reason = signalled ? "JobLaunchFailure" : "NonZeroExitCode";
  }
  if (job.ended_ms == 0) job.ended_ms = wall_ms();
  job.completing = options_.completing.count() > 0 && job.started_ms > 0;
  record(process);
}

bool FakeSlurm::may_start(Process& process) const {
  FakeJob& job = process.job;
  if (job.state != "PENDING" || process.leader != 0 || job.request.hold) return false;
  if (steady_ms() < process.not_before_ms) return false;
  if (job.request.partition == options_.partitions.back()) {
    job.reason = "PartitionDown";
    return false;
  }
  const bool waits_for_namesake =
      job.request.dependency.find("singleton") != std::string::npos &&
      std::any_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
        const Process& other = entry.second;
        return other.serial < process.serial && other.job.request.name == job.request.name &&
               other.job.request.user == job.request.user &&
               (!other.job.over() || other.leader != 0);
      });
  if (waits_for_namesake) job.reason = "Dependency";
  return !waits_for_namesake;
}

void FakeSlurm::start_pending() {
  int taken = 0;
  for (const auto& [id, process] : processes_) taken += process.leader != 0 ? 1 : 0;
  bool first = true;
  for (auto& [id, process] : processes_) {
    if (!may_start(process)) continue;
    if (taken < options_.slots) {
      start(process);
      ++taken;
    } else {
      process.job.reason = first ? "Resources" : "Priority";
      first = false;
    }
  }
}

void FakeSlurm::start(Process& process) {
  FakeJob& job = process.job;
  const int host = 1 + static_cast<int>(process.serial) % 16;
  job.batch_host = (host < 10 ? "n0" : "n") + std::to_string(host);
  job.nodes = job.request.nodes == 1 ? job.batch_host
                                     : "n[01-" + std::string(job.request.nodes < 10 ? "0" : "") +
                                           std::to_string(job.request.nodes) + "]";
  if (job.request.nodes > 1) job.batch_host = "n01";
  ++starts_;
  job.reason = "None";
  job.started_ms = wall_ms();
  process.started_ms = steady_ms();
  const std::string folder = options_.folder + "/job" + std::to_string(process.serial);
  process.leader = spawn_job(job, folder, options_.folder + "/bin");
  if (process.leader == 0) {
    job.wait_status = kLaunchFailure;
    process.ends_as = "FAILED";
    settle(process);
    job.reason = "JobLaunchFailure";
  } else {
    job.state = "RUNNING";
  }
  record(process);
}

}  // namespace tests
