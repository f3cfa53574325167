#include "slurm/slurm_cluster.h"

#include "slurm/job_records.h"
#include "slurm/job_states.h"
#include "slurm/rate_limit.h"

namespace slurm {
namespace {

constexpr int64_t kNodesEveryMs = 60 * kMinuteMs;
constexpr int64_t kNodesAgainMs = 5 * kMinuteMs;
constexpr int64_t kCancelAgainMs = kMinuteMs;

}  // namespace

Snapshot SlurmCluster::states() {
  return listed_.states([this] { return steady_ms(); }, [this] { return list(); });
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
