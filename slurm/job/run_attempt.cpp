#include "slurm/job/run_attempt.h"

#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/environment.h"
#include "slurm/job/attempt_claim.h"
#include "slurm/job/child_process.h"
#include "slurm/job/job_rules.h"

namespace slurm {
namespace {

constexpr timespec kLookAround = {.tv_sec = 10, .tv_nsec = 0};

void set_if_empty(const char* name, const std::string& value) {
  if (base::variable(name).empty()) setenv(name, value.c_str(), 1);
}

// slurmrestd gives a job none of these.
void complete_environment() {
  const passwd* const user = getpwuid(getuid());
  set_if_empty("USER", user == nullptr ? "" : user->pw_name);
  set_if_empty("LOGNAME", base::variable("USER"));
  set_if_empty("HOME", user == nullptr ? "/" : user->pw_dir);
}

JobIdentity identity_of_job() {
  JobIdentity identity{.job = base::variable("SLURM_JOB_ID", base::variable("MARGAY_JOB_ID")),
                       .host = base::host_name()};
  if (const std::string restart = base::variable("SLURM_RESTART_COUNT"); !restart.empty()) {
    identity.restart = restart;
  }
  return identity;
}

class AttemptRun {
 public:
  AttemptRun(const RunOptions& options, const AttemptClaim& claim)
      : options_(options), claim_(claim) {}

  // Before hours are spent on this device. nullopt: the search may begin.
  std::optional<int> probe() {
    const StepEnd end = run_step(probe_command(options_));
    const auto job_ends = end_after_probe(end.code);
    if (job_ends == kCannotRun && end.code != kCannotRun) {
      std::fprintf(stderr, "the probe of the device could not be run (status %d)\n", end.code);
    }
    if (job_ends == kDeviceFault) {
      claim_.blame_host(end.fault_host);
      std::fprintf(stderr, "the device of %s failed its probe (status %d)\n",
                   (end.fault_host.empty() ? base::host_name() : end.fault_host).c_str(), end.code);
    }
    return job_ends;
  }

  int search() {
    const std::string own = claim_.own_checkpoint();
    const StepEnd end = run_step(search_command(options_, own.empty() ? options_.resume : own));
    if (end.code != kDone && end.code != kStopped) claim_.blame_host(host_to_blame(end));
    return end.code;
  }

 private:
  struct StepEnd {
    int code = 0;
    std::string fault_host{};  // where the first rank that failed was
  };

  StepEnd run_step(const Words& command) {
    if (stop_) return {.code = kStopped};
    const Started step = start_program(command, Input::kNone);
    StepEnd end{.code = step.failure != 0 ? step.failure : wait_for(step.pid)};
    // The launcher returns the highest code of several ranks, and srun 255 when it is signalled in
    // its last moment; when one rank fails the others are ended. The first fault is what counts.
    if (end.code != kDone) {
      if (const auto first = claim_.first_fault()) end = {first->code, first->host};
    }
    end.code = code_of_step(end.code, stop_.has_value());
    return end;
  }

  int wait_for(pid_t step) {
    const sigset_t signals = job_signals();
    int status = 0;
    while (waitpid(step, &status, WNOHANG) == 0) {
      const int number = sigtimedwait(&signals, nullptr, &kLookAround);
      if (number == SIGTERM || number == SIGINT) stop_ = SIGTERM;
      if (number == SIGUSR1) stop_ = SIGUSR1;
      if (number > 0 && number != SIGCHLD) ask_to_stop(step, *stop_);
      if (claim_.has_newer_attempt()) ask_to_stop(step, SIGTERM);
    }
    return shell_code(status);
  }

  // srun passes SIGUSR1 on to the program, but ends the step by force when it gets SIGTERM; Slurm
  // itself sends SIGTERM to the program too.
  void ask_to_stop(pid_t step, int number) const {
    kill(step, options_.launcher.empty() ? number : SIGUSR1);
  }

  // What is not the engine's own code belongs to where it was. Its own code all ranks may end with:
  // the leader's log line says whose loss was first, and without one no host is blamed.
  std::string host_to_blame(const StepEnd& end) const {
    if (end.code >= kCannotRun) return end.fault_host;
    const auto rank = lost_rank(claim_.log());
    return rank ? claim_.host_of_fault(*rank) : "";
  }

  const RunOptions& options_;
  const AttemptClaim& claim_;
  std::optional<int> stop_;  // the signal that asked this process to stop
};

// nullopt: this run has the claim, and begins.
std::optional<int> begin(const AttemptClaim& claim) {
  const std::string folder = claim.folder().string();
  if (chdir(folder.c_str()) != 0) {
    std::fprintf(stderr, "cannot enter the attempt's folder %s: %s\n", folder.c_str(),
                 std::strerror(errno));
    return kDeviceFault;
  }
  switch (claim.begin(identity_of_job())) {
    case Beginning::kOurs:
      break;
    case Beginning::kDone:
      std::printf("this attempt is done: %s/manifest.json is there\n", folder.c_str());
      return kDone;
    case Beginning::kFenced:
      std::fputs("a newer attempt has begun: this one does not start\n", stderr);
      return kClaimedElsewhere;
    case Beginning::kTaken:
      std::fprintf(stderr, "another run holds the claim %s/claim\n", folder.c_str());
      return kClaimedElsewhere;
  }
  try {
    claim.clear_faults();
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "cannot begin in the attempt's folder: %s\n", error.what());
    return kDeviceFault;
  }
  return std::nullopt;
}

}  // namespace

int run_attempt(const RunOptions& options) {
  block_job_signals();
  complete_environment();
  const AttemptClaim claim(options.attempt, options.number);
  if (const auto end = begin(claim)) return *end;
  AttemptRun run(options, claim);
  if (options.probe) {
    if (const auto end = run.probe()) return *end;
  }
  return run.search();
}

}  // namespace slurm
