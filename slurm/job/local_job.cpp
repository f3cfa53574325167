#include "slurm/job/local_job.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/text.h"
#include "slurm/job/job_folder.h"
#include "slurm/job/oom_kills.h"
#include "slurm/job/process_identity.h"

namespace slurm {
namespace {

using std::chrono::milliseconds;

constexpr int kCannotStart = 126;  // what a shell answers for a command that cannot be run
constexpr const char* kExitBeside = "exit.new";
// Milliseconds. The clock of a wait stands still while the machine sleeps, the limit's does not.
constexpr int64_t kLongestWait = 60'000;
constexpr int64_t kKillAgain = 20;

// The end must be recorded even when the disk has filled up meanwhile: its room is taken at the
// start.
void reserve_exit_record(const JobFolder& folder) {
  const base::Descriptor file(
      openat(folder.descriptor(), kExitBeside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file || !base::write_all(file.get(), std::string(4096, ' ')) || fsync(file.get()) != 0) {
    base::throw_errno(kExitBeside);
  }
}

void write_exit_record(const JobFolder& folder, const ExitRecord& end) {
  const std::string text = encode(to_record(end));
  const base::Descriptor file(
      openat(folder.descriptor(), kExitBeside, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file || !base::write_all(file.get(), text) ||
      ftruncate(file.get(), static_cast<off_t>(text.size())) != 0 || fsync(file.get()) != 0) {
    base::throw_errno(kExitBeside);
  }
  if (renameat(folder.descriptor(), kExitBeside, folder.descriptor(), "exit") != 0 ||
      fsync(folder.descriptor()) != 0) {
    base::throw_errno("exit");
  }
}

void write_exit_record_in_the_end(const JobFolder& folder, const ExitRecord& end) {
  for (;;) {
    try {
      write_exit_record(folder, end);
      return;
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::no_such_file_or_directory) throw;  // the folder was removed
      std::fprintf(stderr, "cannot record the job's end, trying again: %s\n", error.what());
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGUSR1, SIGHUP, SIGINT, SIGQUIT}) {
    sigaddset(&set, number);
  }
  return set;
}

// By number, GPUs are in the order of nvidia-smi. Throws where there are not as many as were asked
// for.
void show_gpus(const JobFolder& folder, LocalRequest& request) {
  if (request.gpus == 0) return;
  const std::vector<std::string> ids = gpus_in(folder);
  if (ids.size() != static_cast<size_t>(request.gpus)) {
    throw std::runtime_error("the job is to have " + base::counted(request.gpus, "GPU") +
                             ", and was given " + std::to_string(ids.size()));
  }
  request.environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  request.environment["CUDA_VISIBLE_DEVICES"] = base::joined(ids, ",");
}

struct Prepared {
  base::Descriptor directory;
  base::Descriptor output;
  std::string script;
};

Prepared prepare(const LocalRequest& request, const std::string& folder_path) {
  Prepared prepared{.directory = base::open_folder(request.directory),
                    .output = base::Descriptor(open(
                        request.output_path.c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)),
                    .script = folder_path + "/job.sh"};
  if (!prepared.output) {
    base::throw_errno("cannot open the job's output " + request.output_path);
  }
  return prepared;
}

void record_itself(const JobFolder& folder) {
  const auto self = ProcessTable().identify(getpid());
  if (!self) throw std::runtime_error("the job does not see itself in /proc");
  folder.write("job", to_record(*self));
}

// The child: becomes bash, or ends with the reason in its output.
[[noreturn]] void become_script(const JobFolder& folder, const LocalRequest& request,
                                const Prepared& prepared) {
  dup2(prepared.output.get(), STDOUT_FILENO);
  dup2(prepared.output.get(), STDERR_FILENO);
  try {
    setsid();
    record_itself(folder);
    if (fchdir(prepared.directory.get()) != 0) {
      base::throw_errno("cannot enter " + request.directory);
    }
    std::vector<std::string> pairs;
    for (const auto& [key, value] : request.environment) pairs.push_back(key + "=" + value);
    std::vector<std::string> command = {"/bin/bash", prepared.script};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(command[0].c_str(), base::pointers_to(command).data(), base::pointers_to(pairs).data());
    base::throw_errno("cannot start " + command[0]);
  } catch (const std::exception& error) {
    dprintf(STDERR_FILENO, "margay-job: %s\n", error.what());
  }
  _exit(kCannotStart);
}

// One job from its start to its last process.
class Watch {
 public:
  Watch(const JobFolder& folder, const LocalRequest& request, pid_t job)
      : folder_(folder), request_(request), job_(job) {}

  ExitRecord until_the_end() {
    wait_for_script();
    end_what_is_left();
    end_.end_time = wall_clock_ns() / 1'000'000'000;
    return end_;
  }

 private:
  std::vector<ProcessIdentity> members() const {
    const auto record = folder_.read("job");
    if (!record) return {};
    return table_.session_of(to_identity(*record), "MARGAY_JOB_NAME=" + request_.name);
  }

  void pass_on(int number) const {
    for (const ProcessIdentity& process : members()) {
      if (number != SIGUSR1 || table_.handles(process, number)) table_.signal(process, number);
      // A stopped process receives it only once it continues.
      if (number == SIGTERM) table_.signal(process, SIGCONT);
    }
  }

  // What the time limit asks for now. Returns when to look again, in milliseconds.
  int64_t keep_time() {
    if (request_.limit_ms <= 0) return kLongestWait;
    const int64_t left = begun_ms_ + request_.limit_ms - boot_clock_ms();
    if (left > 0) {
      if (request_.stop_signal == 0 || asked_) return left;
      if (left > request_.stop_before_ms) return left - request_.stop_before_ms;
      asked_ = true;
      pass_on(request_.stop_signal);
      return left;
    }
    if (!end_.timed_out) {
      end_.timed_out = true;
      pass_on(SIGTERM);
    } else if (-left >= request_.kill_wait_ms) {
      pass_on(SIGKILL);
      return kKillAgain;
    }
    return std::max(kKillAgain, left + request_.kill_wait_ms);
  }

  // A request to stop is passed on; a terminal's signals are not for us.
  static bool is_passed_on(int number) { return number == SIGTERM || number == SIGUSR1; }

  void wait_for_script() {
    const sigset_t handled = handled_signals();
    int status = 0;
    rusage usage = {};
    while (wait4(job_, &status, WNOHANG, &usage) != job_) {
      const int64_t wait = std::min(keep_time(), kLongestWait);
      const timespec most = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
      const int number = sigtimedwait(&handled, nullptr, &most);
      if (is_passed_on(number)) pass_on(number);
    }
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    end_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    end_.peak_memory_kb = usage.ru_maxrss;
    end_.out_of_memory = was_killed_by_others() && oom_kills().value_or(0) > kills_before_;
  }

  // By SIGKILL, and neither by the daemon nor for its time limit. 137 is how margay-job reports an
  // engine that SIGKILL ended.
  bool was_killed_by_others() const {
    const bool killed = end_.signal == SIGKILL || end_.exit_code == 128 + SIGKILL;
    return killed && !end_.timed_out && !folder_.has("cancel");
  }

  // The script may end before what it started: a search whose shell was killed still has to write
  // its checkpoint, and must not run beside the next attempt.
  void end_what_is_left() {
    if (members().empty()) return;
    pass_on(SIGTERM);
    const int64_t deadline = boot_clock_ms() + request_.kill_wait_ms;
    while (!members().empty()) {
      if (boot_clock_ms() >= deadline) pass_on(SIGKILL);
      std::this_thread::sleep_for(milliseconds(20));
    }
  }

  const JobFolder& folder_;
  const LocalRequest& request_;
  pid_t job_;
  ProcessTable table_;
  ExitRecord end_;
  const int64_t begun_ms_ = boot_clock_ms();
  const int64_t kills_before_ = oom_kills().value_or(INT64_MAX);  // in the cgroup of all local jobs
  bool asked_ = false;                                            // by request_.stop_signal
};

ExitRecord not_started(const std::string& why) {
  ExitRecord end;
  end.exit_code = kCannotStart;
  end.message = why;
  end.end_time = wall_clock_ns() / 1'000'000'000;
  return end;
}

// Only what goes wrong before there is a process becomes an end: a wrapper that fails later leaves
// no exit record, and the daemon watches the job's own record instead.
ExitRecord run_script(const JobFolder& folder, LocalRequest request,
                      const std::string& folder_path) {
  std::optional<Prepared> prepared;
  try {
    show_gpus(folder, request);
    prepared = prepare(request, folder_path);
  } catch (const std::runtime_error& error) {
    return not_started(error.what());
  }
  const pid_t job = fork();
  if (job == 0) become_script(folder, request, *prepared);
  if (job < 0) return not_started("cannot start a process: " + std::string(std::strerror(errno)));
  return Watch(folder, request, job).until_the_end();
}

void run_wrapper(const std::string& folder_path) {
  const sigset_t handled = handled_signals();
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  const JobFolder folder(folder_path);
  const auto lock = folder.take_lock();
  // Started twice is normal after a crash of the daemon: one wrapper wins, once and for all.
  if (!lock || folder.has("started") || folder.has("cancel")) return;
  const auto request = folder.read("request");
  if (!request) throw std::runtime_error("no request in " + folder_path);
  const auto self = ProcessTable().identify(getpid());
  if (!self) throw std::runtime_error("the wrapper does not see itself in /proc");
  reserve_exit_record(folder);
  Record started = to_record(*self);
  started["time"] = std::to_string(wall_clock_ns() / 1'000'000'000);
  folder.write("started", started);
  write_exit_record_in_the_end(folder, run_script(folder, to_local_request(*request), folder_path));
}

}  // namespace

int start_local_job(const std::string& folder) {
  // The daemon waits for this process, and init for the wrapper.
  const pid_t wrapper = fork();
  if (wrapper != 0) return wrapper < 0 ? 1 : 0;
  try {
    run_wrapper(folder);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "margay-job: %s: %s\n", folder.c_str(), error.what());
    return 1;
  }
}

}  // namespace slurm
