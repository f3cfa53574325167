#include "slurm/rest/rest_cluster.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/rest_doctor.h"
#include "slurm/rest/rest_inquiry.h"
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

// Takes the jobs of a listing one by one. Most jobs of a cluster are not ours, and without a wish
// for them they are not even parsed.
class ListingReader {
 public:
  ListingReader(const std::string& prefix, ListingScope scope)
      : prefix_(prefix),
        is_plain_(is_plain(prefix)),
        everybody_(scope == ListingScope::kEverybody) {}

  // A job that cannot be read may be ours, unless its text has nothing of our names.
  void take(const std::string& object) {
    const bool may_be_ours = !is_plain_ || object.find(prefix_) != object.npos;
    if (!may_be_ours && !everybody_) return;
    auto job = parse_queued_job(object);
    if (!job) {
      unreadable_ = unreadable_ || may_be_ours;
      return;
    }
    job->ours = job->status.name.starts_with(prefix_);
    if (job->ours) ours_.push_back(job->status);
    if (everybody_ && !is_over(job->status.state)) all_.push_back(*std::move(job));
  }

  bool lacks_one_of_ours() const { return unreadable_; }
  void give_to(Listing& listing) {
    listing.ours.jobs = std::move(ours_);
    listing.everybody = std::move(all_);
  }

 private:
  const std::string& prefix_;
  bool is_plain_;
  bool everybody_;
  bool unreadable_ = false;
  Jobs ours_;
  std::vector<QueuedJob> all_;
};

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
  Listing list(ListingScope scope) override {
    const auto version = session_.version(RestSession::Purpose::kListing);
    if (version) return list_with(*version, scope);
    Listing listing;
    listing.ours.problem = session_.version_failure().why;
    listing.ours.fresh = session_.version_failure().ending != RestReply::Ending::kNoBudget;
    return listing;
  }
  bool lists_everybody() const override { return true; }

  SiteFacts ask_site() override {
    SiteFacts site{.user = session_.user(), .now = session_.now()};
    if (const auto version = session_.version()) {
      RestInquiry inquiry(session_, *version, RestSession::Purpose::kOther);
      site.nodes = inquiry.nodes();
      site.partitions = inquiry.partitions();
    } else {
      site.nodes.problem = site.partitions.problem = session_.version_failure().why;
    }
    return site;
  }

  int accounting_requests() const override { return 2; }
  void ask_accounting(SiteFacts& site) override {
    site.user = session_.user();
    if (const auto version = session_.version()) {
      RestInquiry(session_, *version, RestSession::Purpose::kOther).ask_accounting(site);
    } else {
      site.accounting_use = AccountingUse::kAsked;
      site.accounting.problem = session_.version_failure().why;
    }
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

  Listing list_with(ApiVersion version, ListingScope scope) {
    Listing found;
    ListingReader reader(session_.options().name_prefix, scope);
    JobListing listing([&](const std::string& object) { reader.take(object); });
    RestReply reply;
    try {
      reply = session_.get(jobs_path(version), RestSession::Purpose::kListing,
                           [&](std::string_view piece) { listing.feed(piece); });
    } catch (const std::runtime_error& error) {
      found.ours.problem = error.what();
      return found;
    }
    found.ours.fresh = reply.ending != RestReply::Ending::kNoBudget;
    found.ours.problem = session_.fault_of_listing(version, reply, listing);
    if (found.ours.problem.empty() && reader.lacks_one_of_ours()) {
      found.ours.problem = "slurmrestd's listing has a job that cannot be read";
    }
    found.ours.complete = found.ours.problem.empty();
    if (found.ours.complete) {
      reader.give_to(found);
      session_.note_release(slurm_release(listing.rest()));
    }
    return found;
  }

  RestSession session_;
};

}  // namespace

std::unique_ptr<Cluster> make_rest_cluster(RestClusterOptions options) {
  return std::make_unique<RestCluster>(std::move(options));
}

}  // namespace slurm
