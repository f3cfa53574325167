#include "slurm/rest/rest_cluster.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slurm/rest/json.h"
#include "slurm/rest/rest_doctor.h"
#include "slurm/rest/rest_session.h"
#include "slurm/sbatch/directives.h"
#include "slurm/slurm_cluster.h"

namespace slurm {
namespace {

using Jobs = std::vector<JobStatus>;

// Adds the name that was refused: "Invalid partition name specified" has none.
SubmitResult name_what_was_asked(SubmitResult result, const Resources& resources) {
  if (result.refusal != Refusal::kConfiguration) return result;
  const std::pair<const char*, const std::string&> names[] = {
      {"partition", resources.partition}, {"account", resources.account}, {"qos", resources.qos}};
  const std::string said = result.message;
  for (const auto& [what, name] : names) {
    if (name.empty() || said.find(what) == std::string::npos) continue;
    result.message += "; the " + (what + (" was '" + name + "'"));
  }
  return result;
}

// Unknown or over: ESLURM_INVALID_JOB_ID and ESLURM_ALREADY_DONE.
bool is_gone(const Problem& problem) { return problem.code == 2017 || problem.code == 2021; }

bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

class RestCluster final : public SlurmCluster {
 public:
  explicit RestCluster(RestClusterOptions options)
      : SlurmCluster(options.poll, options.requests_per_minute), session_(std::move(options)) {}

  // What the job asks for is read from the #SBATCH lines of its script, although the same program
  // has just written them there: the script is what is stored, shown and run by hand with sbatch,
  // so that it alone can be right, and a template's own #SBATCH lines are in no other place.
  SubmitResult submit(const JobRequest& request) override {
    const auto version = session_.version();
    if (!version) {
      const RestReply& failure = session_.version_failure();
      const bool busy = failure.ending == RestReply::Ending::kNoBudget;
      return SubmitResult::rejected(busy ? Refusal::kBusy : Refusal::kConfiguration, failure.why);
    }
    std::string body;
    Resources resources;
    try {
      const std::string where = "the script of " + request.name;
      const Directives directives = parse_directives(request.script, where);
      resources = resources_of(directives, where);
      body = submit_body(*version, request, resources);
    } catch (const DirectiveError& error) {
      return SubmitResult::rejected(Refusal::kConfiguration, error.what());
    } catch (const std::runtime_error& error) {
      return SubmitResult::rejected(Refusal::kJob, error.what());
    }
    return name_what_was_asked(send(*version, body), resources);
  }

  bool release(const std::string& job_id) override {
    const auto version = session_.version();
    if (!version) return false;
    return session_.change("POST", job_path(*version, job_id), release_body()).ok();
  }

  std::optional<JobState> look(const std::string& job_id) override {
    const auto version = session_.version();
    if (!version) return std::nullopt;
    const RestReply reply = session_.get(job_path(*version, job_id));
    if (!reply.ok()) return std::nullopt;
    std::optional<JobState> state;
    JobListing listing([&](const std::string& object) {
      const auto job = parse_job(object);
      if (job && job->job_id == job_id) state = job->state;
    });
    listing.feed(reply.answer.body);
    return state;
  }

  bool signal_stop(const std::string& job_id) override {
    const auto version = session_.version();
    return version && session_.change("DELETE", signal_path(*version, job_id, "USR1")).ok();
  }

  int allowance() override { return session_.allowance(); }
  std::string test_only(const JobRequest&) override {
    throw std::runtime_error(
        "slurmrestd cannot do --test-only: set slurm.transport to cli, or run sbatch --test-only "
        "by hand");
  }

  std::vector<Finding> examine(const Examination& what) override {
    return examine_rest(session_, what);
  }
  std::string describe() const override {
    const RestClusterOptions& options = session_.options();
    const std::string release = session_.release();
    const std::string version = session_.version_word();
    const std::string user = session_.user();
    return "Slurm" + (release.empty() ? "" : " " + release) + " through slurmrestd" +
           (version.empty() ? "" : " " + version) + " at " + options.http.url +
           (user.empty() ? "" : ", as " + user) + "; " +
           std::to_string(session_.requests_in_last_minute()) + " of " +
           std::to_string(options.requests_per_minute) + " requests in the last minute";
  }

 private:
  int64_t steady_ms() const override { return session_.steady_ms(); }
  Snapshot list() override {
    const auto version = session_.version(RestSession::Purpose::kListing);
    if (version) return list_with(*version);
    Snapshot snapshot;
    snapshot.problem = session_.version_failure().why;
    snapshot.fresh = session_.version_failure().ending != RestReply::Ending::kNoBudget;
    return snapshot;
  }

  std::optional<Jobs> accounting_records(const std::string& name) override {
    const auto version = session_.version();
    if (!version) return std::nullopt;
    if (!session_.uses_accounting()) return Jobs();
    const RestReply reply = session_.get(accounting_jobs_path(*version, name));
    if (!reply.ok()) return std::nullopt;
    Jobs jobs = parse_accounting_jobs(reply.answer.body);
    std::erase_if(jobs, [&](const JobStatus& job) { return job.name != name; });
    return jobs;
  }

  CancelAnswer request_cancel(const std::string& job_id) override {
    const auto version = session_.version();
    if (!version) return CancelAnswer::kFailed;
    const RestReply reply = session_.change("DELETE", job_path(*version, job_id));
    if (is_gone(reply.problem)) return CancelAnswer::kGone;
    return reply.ok() ? CancelAnswer::kAsked : CancelAnswer::kFailed;
  }

  std::optional<int> count_nodes() override {
    const auto version = session_.version();
    if (!version) return std::nullopt;
    const RestReply reply = session_.get(controller_path(*version, "nodes"));
    if (!reply.ok()) return std::nullopt;
    return parse_node_totals(reply.answer.body).nodes;
  }

  SubmitResult send(ApiVersion version, const std::string& body) {
    const RestReply reply = session_.submit(version, body);
    switch (reply.ending) {
      case RestReply::Ending::kAnswered:
        return classify_submit(reply.answer);
      case RestReply::Ending::kNoBudget:
        return SubmitResult::rejected(Refusal::kBusy, reply.why);
      case RestReply::Ending::kNotSent:
        return SubmitResult::rejected(Refusal::kConfiguration, reply.why);
      case RestReply::Ending::kLost:
        break;
    }
    return SubmitResult::unknown(reply.why);
  }

  Snapshot list_with(ApiVersion version) {
    Snapshot snapshot;
    Jobs jobs;
    const std::string& prefix = session_.options().name_prefix;
    // Most jobs of a cluster are not ours, and are not even parsed.
    const bool may_skip = is_plain(prefix);
    bool unreadable = false;
    JobListing listing([&](const std::string& object) {
      if (may_skip && object.find(prefix) == object.npos) return;
      auto job = parse_job(object);
      unreadable = unreadable || !job;
      if (job && job->name.starts_with(prefix)) jobs.push_back(std::move(*job));
    });
    RestReply reply;
    try {
      reply = session_.get(jobs_path(version), RestSession::Purpose::kListing,
                           [&](std::string_view piece) { listing.feed(piece); });
    } catch (const std::runtime_error& error) {
      snapshot.problem = error.what();
      return snapshot;
    }
    snapshot.fresh = reply.ending != RestReply::Ending::kNoBudget;
    snapshot.problem = session_.fault_of_listing(version, reply, listing);
    if (snapshot.problem.empty() && unreadable) {
      snapshot.problem = "slurmrestd's listing has a job that cannot be read";
    }
    snapshot.complete = snapshot.problem.empty();
    if (snapshot.complete) {
      snapshot.jobs = std::move(jobs);
      session_.note_release(slurm_release(listing.rest()));
    }
    return snapshot;
  }

  RestSession session_;
};

}  // namespace

std::unique_ptr<Cluster> make_rest_cluster(RestClusterOptions options) {
  return std::make_unique<RestCluster>(std::move(options));
}

}  // namespace slurm
