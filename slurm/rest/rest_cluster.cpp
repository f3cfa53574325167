#include "slurm/rest/rest_cluster.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slurm/job_listing.h"
#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/rest_doctor.h"
#include "slurm/rest/rest_session.h"
#include "slurm/sbatch/directives.h"

namespace slurm {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr int64_t kNodesEveryMs = 60 * kMinuteMs;
constexpr int64_t kNodesAgainMs = 5 * kMinuteMs;  // after a failure
constexpr int64_t kCancelAgainMs = kMinuteMs;     // Slurm sends SIGKILL by itself

using Jobs = std::vector<JobStatus>;

SubmitResult refused(Refusal about, const std::string& message) {
  return {.outcome = SubmitOutcome::kRejected, .job_id = "", .message = message, .refusal = about};
}

// "Invalid partition name specified" does not say which.
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

// Of one name, which is never given twice: the same id is the same job, requeued perhaps. The
// controller knows best what lives, and tells more of an end that both agree on.
Jobs merged(Jobs jobs, const Jobs& accounting) {
  for (const JobStatus& record : accounting) {
    const auto known = std::find_if(jobs.begin(), jobs.end(), [&](const JobStatus& job) {
      return job.job_id == record.job_id;
    });
    if (known == jobs.end()) {
      jobs.push_back(record);
    } else if (is_over(known->state) && is_over(record.state) && record.state != known->state &&
               record.submit_time >= known->submit_time) {
      *known = record;
    }
  }
  return jobs;
}

// Not there any more, or over: what Slurm calls ESLURM_INVALID_JOB_ID and ESLURM_ALREADY_DONE.
bool is_gone(const Problem& problem) { return problem.code == 2017 || problem.code == 2021; }

bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

class RestCluster::Impl {
 public:
  explicit Impl(RestClusterOptions options)
      : session_(std::move(options)),
        listed_(session_.options().poll, session_.options().requests_per_minute) {}

  SubmitResult submit(const JobRequest& request);
  bool release(const std::string& job_id);
  Snapshot states();
  std::optional<Jobs> find_by_name(const std::string& name);
  bool cancel(const std::string& job_id);
  bool signal_stop(const std::string& job_id);
  void forget(const std::string& job_id) { cancelled_ms_.erase(job_id); }
  int allowance() { return session_.allowance(); }
  int nodes();
  std::vector<Finding> examine(const Examination& what) { return examine_rest(session_, what); }
  std::string describe() const;

 private:
  SubmitResult send(ApiVersion version, const std::string& body);
  Snapshot list();
  Snapshot list_with(ApiVersion version);
  std::optional<Jobs> ask_accounting(const std::string& name);

  RestSession session_;
  ListedJobs listed_;
  std::map<std::string, int64_t> cancelled_ms_;
  int nodes_ = 0;
  std::optional<int64_t> next_nodes_ms_;
};

SubmitResult RestCluster::Impl::submit(const JobRequest& request) {
  const auto version = session_.version();
  if (!version) {
    const RestReply& failure = session_.version_failure();
    const bool busy = failure.ending == RestReply::Ending::kNoBudget;
    return refused(busy ? Refusal::kBusy : Refusal::kConfiguration, failure.why);
  }
  std::string body;
  Resources resources;
  try {
    const std::string where = "the script of " + request.name;
    const Directives directives = parse_directives(request.script, where);
    resources = resources_of(directives, where);
    body = submit_body(*version, request, resources);
  } catch (const DirectiveError& error) {
    return refused(Refusal::kConfiguration, error.what());
  } catch (const std::runtime_error& error) {
    return refused(Refusal::kJob, error.what());
  }
  return name_what_was_asked(send(*version, body), resources);
}

SubmitResult RestCluster::Impl::send(ApiVersion version, const std::string& body) {
  const RestReply reply = session_.submit(version, body);
  switch (reply.ending) {
    case RestReply::Ending::kAnswered:
      return classify_submit(version, reply.answer);
    case RestReply::Ending::kNoBudget:
      return refused(Refusal::kBusy, reply.why);
    case RestReply::Ending::kNotSent:
      return refused(Refusal::kConfiguration, reply.why);
    case RestReply::Ending::kLost:
      break;
  }
  return {.outcome = SubmitOutcome::kUnknown, .job_id = "", .message = reply.why};
}

bool RestCluster::Impl::release(const std::string& job_id) {
  const auto version = session_.version();
  if (!version) return false;
  return session_.change("POST", job_path(*version, job_id), release_body(*version)).ok();
}

Snapshot RestCluster::Impl::states() {
  return listed_.states([this] { return session_.steady_ms(); }, [this] { return list(); });
}

// Not fresh: there was no request left for it.
Snapshot RestCluster::Impl::list() {
  const auto version = session_.version(RestSession::Purpose::kListing);
  if (version) return list_with(*version);
  Snapshot snapshot;
  snapshot.problem = session_.version_failure().why;
  snapshot.fresh = session_.version_failure().ending != RestReply::Ending::kNoBudget;
  return snapshot;
}

Snapshot RestCluster::Impl::list_with(ApiVersion version) {
  Snapshot snapshot;
  Jobs jobs;
  const std::string& prefix = session_.options().name_prefix;
  // Most jobs of a cluster are none of ours: they are not even parsed.
  const bool may_skip = is_plain(prefix);
  bool unreadable = false;
  JobListing listing([&](const std::string& object) {
    if (may_skip && object.find(prefix) == object.npos) return;
    auto job = parse_job(version, object);
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

std::optional<Jobs> RestCluster::Impl::find_by_name(const std::string& name) {
  auto jobs = listed_.of_name(name);
  if (!jobs || !session_.version()) return std::nullopt;
  if (!session_.uses_accounting()) return jobs;
  const auto accounting = ask_accounting(name);
  if (!accounting) return std::nullopt;
  return merged(*std::move(jobs), *accounting);
}

std::optional<Jobs> RestCluster::Impl::ask_accounting(const std::string& name) {
  const ApiVersion version = *session_.version();
  const RestReply reply = session_.get(accounting_jobs_path(version, name));
  if (!reply.ok()) return std::nullopt;
  Jobs jobs = parse_accounting_jobs(version, reply.answer.body);
  std::erase_if(jobs, [&](const JobStatus& job) { return job.name != name; });
  return jobs;
}

bool RestCluster::Impl::cancel(const std::string& job_id) {
  const JobStatus* job = listed_.find(job_id);
  if (job != nullptr && is_over(job->state)) {
    cancelled_ms_.erase(job_id);
    return true;
  }
  const int64_t now = session_.steady_ms();
  const auto asked = cancelled_ms_.find(job_id);
  if (asked != cancelled_ms_.end()) {
    // v0.0.40 and v0.0.41 answer the same of a job that they do not know.
    if (listed_.lacks(job_id, asked->second)) {
      cancelled_ms_.erase(asked);
      return true;
    }
    if (now - asked->second < kCancelAgainMs) return false;
  }
  const auto version = session_.version();
  if (!version) return false;
  const RestReply reply = session_.change("DELETE", job_path(*version, job_id));
  if (is_gone(reply.problem)) {
    cancelled_ms_.erase(job_id);
    return true;
  }
  if (reply.ok()) cancelled_ms_[job_id] = now;
  return false;
}

bool RestCluster::Impl::signal_stop(const std::string& job_id) {
  const auto version = session_.version();
  return version && session_.change("DELETE", signal_path(*version, job_id, "USR1")).ok();
}

// Only for shares of the machines, so neither often nor urgent.
int RestCluster::Impl::nodes() {
  const int64_t now = session_.steady_ms();
  if ((next_nodes_ms_ && now < *next_nodes_ms_) || session_.allowance() < 1) return nodes_;
  next_nodes_ms_ = now + kNodesAgainMs;
  const auto version = session_.version();
  if (!version) return nodes_;
  const RestReply reply = session_.get(nodes_path(*version));
  if (!reply.ok()) return nodes_;
  nodes_ = static_cast<int>(parse_nodes(*version, reply.answer.body).size());
  next_nodes_ms_ = now + kNodesEveryMs;
  return nodes_;
}

std::string RestCluster::Impl::describe() const {
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

RestCluster::RestCluster(RestClusterOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
RestCluster::~RestCluster() = default;

SubmitResult RestCluster::submit(const JobRequest& request) { return impl_->submit(request); }
bool RestCluster::release(const std::string& job_id) { return impl_->release(job_id); }
Snapshot RestCluster::states() { return impl_->states(); }
std::optional<Jobs> RestCluster::find_by_name(const std::string& name) {
  return impl_->find_by_name(name);
}
bool RestCluster::cancel(const std::string& job_id) { return impl_->cancel(job_id); }
bool RestCluster::signal_stop(const std::string& job_id) { return impl_->signal_stop(job_id); }
void RestCluster::forget(const std::string& job_id) { impl_->forget(job_id); }
int RestCluster::allowance() { return impl_->allowance(); }
int RestCluster::nodes() { return impl_->nodes(); }
std::string RestCluster::test_only(const JobRequest&) {
  throw std::runtime_error(
      "slurmrestd cannot do --test-only: set slurm.transport to cli, or run sbatch --test-only by "
      "hand");
}
std::vector<Finding> RestCluster::examine(const Examination& what) { return impl_->examine(what); }
std::string RestCluster::describe() const { return impl_->describe(); }

}  // namespace slurm
