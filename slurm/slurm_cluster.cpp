#include "slurm/slurm_cluster.h"

#include <utility>

#include "slurm/job_records.h"
#include "slurm/job_states.h"
#include "slurm/rate_limit.h"

namespace slurm {
namespace {

constexpr int64_t kNodesEveryMs = 60 * kMinuteMs;
constexpr int64_t kNodesAgainMs = 5 * kMinuteMs;
constexpr int64_t kAccountingEveryMs = 60 * kMinuteMs;
constexpr int64_t kAccountingAgainMs = 5 * kMinuteMs;
constexpr int64_t kCancelAgainMs = kMinuteMs;
constexpr int kSiteRequests = 2;
constexpr const char* kNoRequests =
    "too few requests are left in this minute: raise slurm.requests_per_minute";

std::string first_problem(const Listing& jobs, const SiteFacts& site) {
  if (!jobs.ours.complete) return "jobs: " + jobs.ours.problem;
  if (!site.nodes.value) return "nodes: " + site.nodes.problem;
  return site.partitions.value ? "" : "partitions: " + site.partitions.problem;
}

}  // namespace

Snapshot SlurmCluster::states() {
  return listed_.states([this] { return steady_ms(); }, [this] { return list_for_states().ours; });
}

// slurmrestd lists everybody's jobs whoever asks, so that those of others cost no request more;
// they are only read once somebody wants them.
Listing SlurmCluster::list_for_states() {
  if (!wants_everybody_ || !lists_everybody()) return list(ListingScope::kOurs);
  Listing listing = list(ListingScope::kEverybody);
  if (listing.ours.fresh) {
    everybody_ =
        Listing{.ours = {.complete = listing.ours.complete, .problem = listing.ours.problem},
                .everybody = std::exchange(listing.everybody, {})};
  }
  return listing;
}

// The last listing of states() serves until the next one is due. One that is made here is not given
// to states(), whose callers conclude from a fresh listing that a job is gone.
Listing SlurmCluster::everybodys_jobs() {
  wants_everybody_ = true;
  if (lists_everybody() && everybody_ && !listed_.due(steady_ms())) return *everybody_;
  Listing listing = list(ListingScope::kEverybody);
  if (lists_everybody() && listing.ours.fresh) everybody_ = listing;
  return listing;
}

void SlurmCluster::refresh_accounting() {
  const int64_t now = steady_ms();
  if (next_accounting_ms_ && now < *next_accounting_ms_) return;
  if (allowance() < accounting_requests()) return;
  SiteFacts asked;
  ask_accounting(asked);
  accounting_ = std::move(asked);
  const bool failed = accounting_.accounting_use == AccountingUse::kAsked &&
                      !why_limits_are_unknown(accounting_).empty();
  next_accounting_ms_ = steady_ms() + (failed ? kAccountingAgainMs : kAccountingEveryMs);
}

ClusterFacts SlurmCluster::facts() {
  ClusterFacts facts;
  if (allowance() < kSiteRequests + 1) {
    facts.problem = kNoRequests;
    return facts;
  }
  Listing jobs = everybodys_jobs();
  facts.site = ask_site();
  facts.limits_problem = "they were not asked for";
  facts.problem = first_problem(jobs, facts.site);
  facts.complete = facts.problem.empty();
  set_jobs(std::move(jobs.everybody), facts);
  if (facts.complete) unseen_ = unseen_use(unseen_, facts, facts.site.now);
  facts.unseen = unseen_;
  return facts;
}

ClusterFacts SlurmCluster::facts_with_limits() {
  ClusterFacts facts = this->facts();
  refresh_accounting();
  copy_accounting(accounting_, facts.site);
  facts.limits_problem = why_limits_are_unknown(facts.site);
  return facts;
}

std::optional<std::vector<JobStatus>> SlurmCluster::find_by_name(const std::string& name) {
  auto jobs = listed_.of_name(name);
  if (!jobs) return std::nullopt;
  const auto records = accounting_records(name);
  if (!records) return std::nullopt;
  return merge_records(*std::move(jobs), *records);
}

bool SlurmCluster::cancel(const std::string& job_id) {
  const int64_t now = steady_ms();
  const auto asked = cancelled_ms_.find(job_id);
  const bool was_asked = asked != cancelled_ms_.end();
  const JobStatus* job = listed_.find(job_id);
  // slurmrestd v0.0.40 and v0.0.41 accept the request for a job that they do not know, so that only
  // a complete listing from after the request shows that there is none.
  bool gone =
      job != nullptr ? is_over(job->state) : was_asked && listed_.lacks(job_id, asked->second);
  if (!gone) {
    if (was_asked && now - asked->second < kCancelAgainMs) return false;
    const CancelAnswer answer = request_cancel(job_id);
    if (answer == CancelAnswer::kAsked) cancelled_ms_[job_id] = now;
    gone = answer == CancelAnswer::kGone;
  }
  if (gone) cancelled_ms_.erase(job_id);
  return gone;
}

// The number only serves to share out the machines: the last one will do where there is no request
// or no answer.
int SlurmCluster::nodes() {
  const int64_t now = steady_ms();
  if ((next_nodes_ms_ && now < *next_nodes_ms_) || allowance() < 1) return nodes_;
  const std::optional<int> counted = count_nodes();
  if (counted) nodes_ = *counted;
  next_nodes_ms_ = now + (counted ? kNodesEveryMs : kNodesAgainMs);
  return nodes_;
}

}  // namespace slurm
