#include "slurm/job_listing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "slurm/rate_limit.h"

namespace slurm {
namespace {

constexpr int kLatencyFactor = 5;

}  // namespace

Snapshot ListedJobs::states(const std::function<int64_t()>& steady_ms,
                            const std::function<Snapshot()>& list) {
  const int64_t began = steady_ms();
  bool asked = false;
  if (due(began)) {
    Snapshot now = list();
    asked = now.fresh;
    if (asked) plan_next(began, steady_ms() - began, now.complete);
    if (now.complete) {
      jobs_ = std::exchange(now.jobs, {});
      jobs_ms_ = began;
    }
    if (asked || !next_ms_) last_ = std::move(now);
  }
  Snapshot snapshot = last_;
  snapshot.fresh = asked;
  if (snapshot.complete) snapshot.jobs = *jobs_;
  return snapshot;
}

// A long listing is work for the controller, so that the next one waits for five times as long. A
// failure shows nothing about that, but is not provoked again at once either.
void ListedJobs::plan_next(int64_t began_ms, int64_t latency_ms, bool complete) {
  next_ms_ = began_ms + std::max({poll_ms_, latency_ms * (complete ? kLatencyFactor : 1),
                                  2 * kMinuteMs / requests_per_minute_});
}

std::optional<std::vector<JobStatus>> ListedJobs::of_name(const std::string& name) const {
  if (!jobs_) return std::nullopt;
  std::vector<JobStatus> jobs;
  std::copy_if(jobs_->begin(), jobs_->end(), std::back_inserter(jobs),
               [&](const JobStatus& job) { return job.name == name; });
  return jobs;
}

bool ListedJobs::lacks(const std::string& job_id, int64_t since_ms) const {
  return jobs_ && jobs_ms_ > since_ms && find(job_id) == nullptr;
}

const JobStatus* ListedJobs::find(const std::string& job_id) const {
  if (!jobs_) return nullptr;
  const auto job = std::find_if(jobs_->begin(), jobs_->end(),
                                [&](const JobStatus& one) { return one.job_id == job_id; });
  return job == jobs_->end() ? nullptr : &*job;
}

}  // namespace slurm
