#include "slurm/commands/cli_cluster.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "slurm/commands/cli_doctor.h"
#include "slurm/commands/cli_inquiry.h"
#include "slurm/commands/cli_session.h"
#include "slurm/commands/parse.h"
#include "slurm/rate_limit.h"
#include "slurm/sbatch/directives.h"
#include "slurm/slurm_cluster.h"

namespace slurm {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSlowMs = 2'000;  // a failure that takes longer is not provoked again at once
constexpr const char* kScratchFiles = "sbatch-";

using Jobs = std::vector<JobStatus>;

bool is_job_id(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789_") == std::string::npos;
}

// If the commands are wrappers of the site that run sbatch as another user, that user owns the
// folder, and must be able to read the script.
void give_to_owner_of(const std::string& folder, int descriptor) {
  struct stat owner {};
  if (::stat(folder.c_str(), &owner) != 0 || owner.st_uid == ::geteuid()) return;
  // Only root may give a file away; if that fails, sbatch reports that it cannot read the script.
  [[maybe_unused]] const int refused = ::fchown(descriptor, owner.st_uid, owner.st_gid);
}

// The script in a file for sbatch, which is removed with this object.
class ScratchFile {
 public:
  ScratchFile(const std::string& folder, const std::string& text) {
    path_ = folder + "/" + kScratchFiles + "XXXXXX";
    const base::Descriptor file(::mkostemp(path_.data(), O_CLOEXEC));  // mode 0600
    if (!file) base::throw_errno("cannot make a file in " + folder);
    give_to_owner_of(folder, file.get());
    if (!base::write_all(file.get(), text)) {
      const int error = errno;
      ::unlink(path_.c_str());
      throw base::FileError(error, "cannot write " + path_);
    }
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct SbatchCall {
  std::unique_ptr<ScratchFile> script;
  Words arguments;
};

// Removes the files of a daemon that was killed. Younger ones may belong to another daemon that is
// at work.
void prepare_scratch(const std::string& folder) {
  fs::create_directories(folder);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code gone;
    const bool ours = entry.path().filename().string().starts_with(kScratchFiles);
    if (ours && entry.last_write_time(gone) < long_ago && !gone) fs::remove(entry.path(), gone);
  }
}

class CliCluster final : public SlurmCluster {
 public:
  explicit CliCluster(CliClusterOptions options)
      : SlurmCluster(options.poll, options.requests_per_minute), session_(std::move(options)) {
    prepare_scratch(session_.options().scratch);
  }

  SubmitResult submit(const JobRequest& request) override {
    SbatchCall call;
    try {
      call = prepare(request);
    } catch (const DirectiveError& error) {
      return SubmitResult::rejected(Refusal::kConfiguration, error.what());
    } catch (const std::system_error& error) {
      return SubmitResult::rejected(Refusal::kBusy, error.what());
    }
    try {
      const auto result = session_.run_in(request.environment, "sbatch", call.arguments);
      return result ? classify_sbatch(*result) : SubmitResult::rejected(Refusal::kBusy, kNoBudget);
    } catch (const std::system_error& error) {  // sbatch may have been started
      return SubmitResult::unknown(error.what());
    }
  }

  bool release(const std::string& job_id) override {
    if (!is_job_id(job_id)) return false;
    const auto result = session_.run("scontrol", {"release", job_id});
    return result && result->ok();
  }

  std::optional<JobState> look(const std::string& job_id) override {
    if (!is_job_id(job_id)) return std::nullopt;
    Words arguments = squeue_arguments();
    arguments.push_back("--jobs=" + job_id);
    const auto result = session_.run("squeue", arguments);
    if (!result || !result->ok()) return std::nullopt;
    const QueueText queue = parse_squeue(result->output, session_.options().name_prefix);
    for (const JobStatus& job : queue.jobs) {
      if (job.job_id == job_id) return job.state;
    }
    return std::nullopt;
  }

  bool signal_stop(const std::string& job_id) override {
    if (!is_job_id(job_id)) return false;
    const auto result = session_.run("scancel", {"--signal=USR1", job_id});
    return result && result->ok();
  }

  int allowance() override { return session_.allowance(); }
  std::string test_only(const JobRequest& request) override {
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

  std::vector<Finding> examine(const Examination& what) override {
    return examine_cli(session_, what);
  }
  std::string describe() const override {
    const CliClusterOptions& options = session_.options();
    return "Slurm through its commands" +
           (options.commands.empty() ? "" : " in " + options.commands) + ", as " + session_.user() +
           "; at most " + std::to_string(options.requests_per_minute) + " requests a minute";
  }

 private:
  int64_t steady_ms() const override { return session_.steady_ms(); }
  // Our own jobs are asked for by user, which costs the controller little; everybody's are not read
  // at each poll.
  bool lists_everybody() const override { return false; }
  Listing list(ListingScope scope) override {
    const bool all = scope == ListingScope::kEverybody;
    Listing listing;
    const auto result =
        session_.run("squeue", all ? squeue_arguments_of_everybody() : squeue_arguments(),
                     all ? CliSession::Purpose::kOther : CliSession::Purpose::kListing);
    if (!result) {
      listing.ours.fresh = false;
      listing.ours.problem = kNoBudget;
    } else if (!result->ok()) {
      listing.ours.problem = complaint_of(*result) + " (squeue)";
    } else if (all) {
      read_everybody(result->output, listing);
    } else {
      read_ours(result->output, listing);
    }
    return listing;
  }

  void read_ours(const std::string& output, Listing& listing) const {
    QueueText queue = parse_squeue(output, session_.options().name_prefix);
    listing.ours.problem = queue.problem;
    listing.ours.complete = queue.problem.empty();
    if (listing.ours.complete) listing.ours.jobs = std::move(queue.jobs);
  }

  void read_everybody(const std::string& output, Listing& listing) const {
    EverybodyText queue = parse_squeue_of_everybody(output, session_.options().name_prefix);
    listing.ours.problem = queue.problem;
    listing.ours.complete = queue.problem.empty();
    for (const QueuedJob& job : queue.jobs) {
      if (job.ours) listing.ours.jobs.push_back(job.status);
    }
    if (listing.ours.complete) listing.everybody = std::move(queue.jobs);
  }

  SiteFacts ask_site() override {
    CliInquiry inquiry(session_, CliInquiry::Budget::kWithin);
    SiteFacts site{.user = session_.user(), .now = session_.options().now()};
    site.nodes = inquiry.nodes();
    site.partitions = inquiry.partitions();
    return site;
  }

  int accounting_requests() const override { return 5; }
  void ask_accounting(SiteFacts& site) override {
    site.user = session_.user();
    if (session_.options().accounting == Accounting::kOff) {
      site.accounting_use = AccountingUse::kOff;
      return;
    }
    CliInquiry inquiry(session_, CliInquiry::Budget::kWithin);
    const Fact<Settings> settings = inquiry.settings();
    if (settings.value) {
      inquiry.ask_accounting(*settings.value, site);
    } else {
      site.accounting_use = AccountingUse::kAsked;
      site.accounting.problem = settings.problem;
    }
  }

  std::optional<Jobs> accounting_records(const std::string& name) override {
    if (session_.options().accounting == Accounting::kOff || accounting_is_off_) return Jobs();
    const int64_t began = session_.steady_ms();
    if (accounting_again_ms_ && began < *accounting_again_ms_) return std::nullopt;
    const auto result = session_.run("sacct", sacct_arguments(name, accounting_days_));
    if (!result) return std::nullopt;
    if (result->ok()) return parse_sacct(result->output, name);
    if (says_accounting_is_off(result->error)) {
      accounting_is_off_ = session_.options().accounting == Accounting::kAuto;
      if (accounting_is_off_) return Jobs();
    } else if (says_too_many_days(result->error)) {
      accounting_days_ = std::max(1, accounting_days_ / 3);
    } else if (session_.steady_ms() - began >= kSlowMs) {
      accounting_again_ms_ = session_.steady_ms() + kMinuteMs;
    }
    return std::nullopt;
  }

  CancelAnswer request_cancel(const std::string& job_id) override {
    if (!is_job_id(job_id)) return CancelAnswer::kGone;
    const auto result = session_.run("scancel", {"--verbose", job_id});
    return result ? classify_scancel(*result) : CancelAnswer::kFailed;
  }

  std::optional<int> count_nodes() override {
    const auto result = session_.run("sinfo", sinfo_node_arguments());
    if (!result || !result->ok()) return std::nullopt;
    return parse_sinfo_nodes(result->output).nodes;
  }

  SbatchCall prepare(const JobRequest& request) const {
    const Directives directives = parse_directives(request.script, "the script of " + request.name);
    const std::string folder = fs::absolute(session_.options().scratch).string();
    SbatchCall call;
    call.script = std::make_unique<ScratchFile>(folder, request.script);
    // The command line overrides the script's lines, but this folder is only a default.
    const bool says_chdir = directives.count("chdir") > 0;
    call.arguments = sbatch_arguments(request, says_chdir ? "" : request.directory);
    call.arguments.push_back(call.script->path());
    return call;
  }

  CliSession session_;
  bool accounting_is_off_ = false;
  int accounting_days_ = 90;  // how far back sacct looks; less where the site refuses long queries
  std::optional<int64_t> accounting_again_ms_;
};

}  // namespace

std::unique_ptr<Cluster> make_cli_cluster(CliClusterOptions options) {
  return std::make_unique<CliCluster>(std::move(options));
}

}  // namespace slurm
