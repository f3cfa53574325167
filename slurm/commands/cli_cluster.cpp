#include "slurm/commands/cli_cluster.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "slurm/commands/cli_doctor.h"
#include "slurm/commands/cli_session.h"
#include "slurm/commands/parse.h"
#include "slurm/job_listing.h"
#include "slurm/job_states.h"
#include "slurm/sbatch/directives.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kNodesEveryMs = 60 * kMinuteMs;
constexpr int64_t kNodesAgainMs = 5 * kMinuteMs;  // after a failure
constexpr int64_t kCancelAgainMs = kMinuteMs;     // Slurm sends SIGKILL by itself
constexpr int64_t kSlowMs = 2'000;                // a failure that is not to be met again at once
constexpr const char* kScratchFiles = "sbatch-";
constexpr const char* kNoBudget = "the requests of this minute are used up (requests_per_minute)";

using Jobs = std::vector<JobStatus>;

SubmitResult refused(Refusal about, const std::string& message) {
  return {.outcome = SubmitOutcome::kRejected, .job_id = "", .message = message, .refusal = about};
}

bool is_job_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789_") == std::string::npos;
}

// Where the commands are scripts of the site that run them as another, the folder belongs to him.
void give_to_owner_of(const std::string& folder, int descriptor) {
  struct stat owner {};
  if (::stat(folder.c_str(), &owner) != 0 || owner.st_uid == ::geteuid()) return;
  // Only root can; sbatch itself says so when it cannot read the file then.
  [[maybe_unused]] const int refused = ::fchown(descriptor, owner.st_uid, owner.st_gid);
}

// For sbatch alone, gone with this object.
class ScratchFile {
 public:
  ScratchFile(const std::string& folder, const std::string& text) {
    path_ = folder + "/" + kScratchFiles + "XXXXXX";
    const int descriptor = ::mkostemp(path_.data(), O_CLOEXEC);  // mode 0600
    if (descriptor < 0) fail("cannot make a file in " + folder);
    give_to_owner_of(folder, descriptor);
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t count = ::write(descriptor, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        const int number = errno;
        ::close(descriptor);
        ::unlink(path_.c_str());
        errno = number;
        fail("cannot write " + path_);
      }
      rest.remove_prefix(static_cast<size_t>(count));
    }
    ::close(descriptor);
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  std::string path_;
};

struct SbatchCall {
  std::unique_ptr<ScratchFile> script;
  Words arguments;
};

// A daemon that was killed left its own; another one may be at work with young ones.
void prepare_scratch(const std::string& folder) {
  fs::create_directories(folder);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code gone;
    const bool ours = entry.path().filename().string().starts_with(kScratchFiles);
    if (ours && entry.last_write_time(gone) < long_ago && !gone) fs::remove(entry.path(), gone);
  }
}

// Accounting knows a job's end to the last, the controller what still lives. One name is never two
// jobs of one id.
Jobs merged(Jobs jobs, const Jobs& accounting) {
  for (const JobStatus& record : accounting) {
    const auto known = std::find_if(jobs.begin(), jobs.end(), [&](const JobStatus& job) {
      return job.job_id == record.job_id;
    });
    if (known == jobs.end()) {
      jobs.push_back(record);
    } else if (is_over(known->state) && is_over(record.state) &&
               record.submit_time >= known->submit_time) {
      *known = record;
    }
  }
  return jobs;
}

}  // namespace

class CliCluster::Impl {
 public:
  explicit Impl(CliClusterOptions options)
      : session_(std::move(options)),
        listed_(session_.options().poll, session_.options().requests_per_minute) {
    prepare_scratch(session_.options().scratch);
  }

  SubmitResult submit(const JobRequest& request);
  bool release(const std::string& job_id);
  Snapshot states();
  std::optional<Jobs> find_by_name(const std::string& name);
  bool cancel(const std::string& job_id);
  bool signal_stop(const std::string& job_id);
  void forget(const std::string& job_id) { cancelled_ms_.erase(job_id); }
  int allowance() { return session_.allowance(); }
  int nodes();
  std::string test_only(const JobRequest& request);
  std::vector<Finding> examine(const Examination& what) { return examine_cli(session_, what); }
  std::string describe() const;

 private:
  SbatchCall prepare(const JobRequest& request) const;
  Snapshot list();
  std::optional<Jobs> ask_accounting(const std::string& name);

  CliSession session_;
  ListedJobs listed_;
  std::map<std::string, int64_t> cancelled_ms_;
  bool accounting_is_off_ = false;
  int accounting_days_ = 90;  // less where the site refuses long queries
  std::optional<int64_t> accounting_again_ms_;
  int nodes_ = 0;
  std::optional<int64_t> next_nodes_ms_;
};

SbatchCall CliCluster::Impl::prepare(const JobRequest& request) const {
  const Directives directives = parse_directives(request.script, "the script of " + request.name);
  const std::string folder = fs::absolute(session_.options().scratch).string();
  SbatchCall call;
  call.script = std::make_unique<ScratchFile>(folder, request.script);
  // The command line wins over the script's lines, but this one is only a default.
  const bool says_chdir = directives.count("chdir") > 0;
  call.arguments = sbatch_arguments(request, says_chdir ? "" : request.directory);
  call.arguments.push_back(call.script->path());
  return call;
}

SubmitResult CliCluster::Impl::submit(const JobRequest& request) {
  SbatchCall call;
  try {
    call = prepare(request);
  } catch (const DirectiveError& error) {
    return refused(Refusal::kConfiguration, error.what());
  } catch (const std::system_error& error) {
    return refused(Refusal::kBusy, error.what());
  }
  try {
    const auto result = session_.run_in(request.environment, "sbatch", call.arguments);
    return result ? classify_sbatch(*result) : refused(Refusal::kBusy, kNoBudget);
  } catch (const std::system_error& error) {  // started or not: who knows
    return {.outcome = SubmitOutcome::kUnknown, .job_id = "", .message = error.what()};
  }
}

std::string CliCluster::Impl::test_only(const JobRequest& request) {
  SbatchCall call = prepare(request);
  call.arguments.insert(call.arguments.begin(), "--test-only");
  const auto result = session_.run_in(request.environment, "sbatch", call.arguments);
  if (!result) throw std::runtime_error(kNoBudget);
  const std::string words = words_of(*result);
  if (result->ending != CommandResult::Ending::kEnded || words.empty()) {
    throw std::runtime_error("sbatch --test-only gave no answer: " + complaint_of(*result));
  }
  return words;
}

bool CliCluster::Impl::release(const std::string& job_id) {
  if (!is_job_id(job_id)) return false;
  const auto result = session_.run("scontrol", {"release", job_id});
  return result && result->ok();
}

bool CliCluster::Impl::signal_stop(const std::string& job_id) {
  if (!is_job_id(job_id)) return false;
  const auto result = session_.run("scancel", {"--signal=USR1", job_id});
  return result && result->ok();
}

Snapshot CliCluster::Impl::states() {
  return listed_.states([this] { return session_.steady_ms(); }, [this] { return list(); });
}

// Not fresh: there was no request left for it.
Snapshot CliCluster::Impl::list() {
  Snapshot snapshot;
  const auto result = session_.run("squeue", squeue_arguments(), CliSession::Purpose::kListing);
  if (!result) {
    snapshot.fresh = false;
    snapshot.problem = kNoBudget;
  } else if (result->ok()) {
    QueueText queue = parse_squeue(result->output, session_.options().name_prefix);
    snapshot.problem = queue.problem;
    snapshot.complete = queue.problem.empty();
    if (snapshot.complete) snapshot.jobs = std::move(queue.jobs);
  } else {
    snapshot.problem = complaint_of(*result) + " (squeue)";
  }
  return snapshot;
}

std::optional<Jobs> CliCluster::Impl::find_by_name(const std::string& name) {
  auto jobs = listed_.of_name(name);
  if (!jobs) return std::nullopt;
  if (session_.options().accounting == Accounting::kOff || accounting_is_off_) return jobs;
  const auto accounting = ask_accounting(name);
  if (accounting) return merged(*std::move(jobs), *accounting);
  return accounting_is_off_ ? jobs : std::nullopt;
}

std::optional<Jobs> CliCluster::Impl::ask_accounting(const std::string& name) {
  const int64_t began = session_.steady_ms();
  if (accounting_again_ms_ && began < *accounting_again_ms_) return std::nullopt;
  const auto result = session_.run("sacct", sacct_arguments(name, accounting_days_));
  if (!result) return std::nullopt;
  if (result->ok()) return parse_sacct(result->output, name);
  if (says_accounting_is_off(result->error)) {
    accounting_is_off_ = session_.options().accounting == Accounting::kAuto;
  } else if (says_too_many_days(result->error)) {
    accounting_days_ = std::max(1, accounting_days_ / 3);
  } else if (session_.steady_ms() - began >= kSlowMs) {
    accounting_again_ms_ = session_.steady_ms() + kMinuteMs;
  }
  return std::nullopt;
}

bool CliCluster::Impl::cancel(const std::string& job_id) {
  const JobStatus* job = listed_.find(job_id);
  if (!is_job_id(job_id) || (job != nullptr && is_over(job->state))) {
    cancelled_ms_.erase(job_id);
    return true;
  }
  const int64_t now = session_.steady_ms();
  const auto asked = cancelled_ms_.find(job_id);
  if (asked != cancelled_ms_.end() && now - asked->second < kCancelAgainMs) return false;
  const auto result = session_.run("scancel", {"--verbose", job_id});
  if (!result) return false;
  switch (classify_scancel(*result)) {
    case CancelAnswer::kGone:
      cancelled_ms_.erase(job_id);
      return true;
    case CancelAnswer::kAsked:
      cancelled_ms_[job_id] = now;
      return false;
    case CancelAnswer::kFailed:
      return false;
  }
  return false;
}

// Only for shares of the machines, so neither often nor urgent.
int CliCluster::Impl::nodes() {
  const int64_t now = session_.steady_ms();
  if (next_nodes_ms_ && now < *next_nodes_ms_) return nodes_;
  const auto result = session_.run("sinfo", sinfo_node_arguments());
  if (!result) return nodes_;
  next_nodes_ms_ = now + (result->ok() ? kNodesEveryMs : kNodesAgainMs);
  if (result->ok()) nodes_ = parse_sinfo_nodes(result->output).nodes;
  return nodes_;
}

std::string CliCluster::Impl::describe() const {
  const CliClusterOptions& options = session_.options();
  return "Slurm through its commands" +
         (options.commands.empty() ? "" : " in " + options.commands) + ", as " + session_.user() +
         "; at most " + std::to_string(options.requests_per_minute) + " requests a minute";
}

CliCluster::CliCluster(CliClusterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
CliCluster::~CliCluster() = default;

SubmitResult CliCluster::submit(const JobRequest& request) { return impl_->submit(request); }
bool CliCluster::release(const std::string& job_id) { return impl_->release(job_id); }
Snapshot CliCluster::states() { return impl_->states(); }
std::optional<Jobs> CliCluster::find_by_name(const std::string& name) {
  return impl_->find_by_name(name);
}
bool CliCluster::cancel(const std::string& job_id) { return impl_->cancel(job_id); }
bool CliCluster::signal_stop(const std::string& job_id) { return impl_->signal_stop(job_id); }
void CliCluster::forget(const std::string& job_id) { impl_->forget(job_id); }
int CliCluster::allowance() { return impl_->allowance(); }
int CliCluster::nodes() { return impl_->nodes(); }
std::string CliCluster::test_only(const JobRequest& request) { return impl_->test_only(request); }
std::vector<Finding> CliCluster::examine(const Examination& what) { return impl_->examine(what); }
std::string CliCluster::describe() const { return impl_->describe(); }

}  // namespace slurm
