#include "slurm/job_records.h"

#include <algorithm>
#include <utility>

#include "slurm/job_states.h"

namespace slurm {
namespace {

// A run that has not started is later than one that has.
std::pair<int64_t, int64_t> age_of(const JobStatus& run) {
  return {run.submit_time, run.start_time == 0 ? INT64_MAX : run.start_time};
}

auto find_id(std::vector<JobStatus>& jobs, const std::string& job_id) {
  return std::find_if(jobs.begin(), jobs.end(),
                      [&](const JobStatus& job) { return job.job_id == job_id; });
}

}  // namespace

void keep_last_run(std::vector<JobStatus>& jobs, JobStatus run) {
  const auto known = std::find_if(jobs.begin(), jobs.end(), [&](const JobStatus& job) {
    return job.job_id == run.job_id && job.name == run.name;
  });
  if (known == jobs.end()) {
    jobs.push_back(std::move(run));
    return;
  }
  const int restarts = std::max(known->restarts + 1, run.restarts);
  if (age_of(run) >= age_of(*known)) *known = std::move(run);
  known->restarts = restarts;
}

std::vector<JobStatus> merge_records(std::vector<JobStatus> controller,
                                     const std::vector<JobStatus>& accounting) {
  std::vector<JobStatus> jobs = std::move(controller);
  for (const JobStatus& record : accounting) {
    const auto known = find_id(jobs, record.job_id);
    if (known == jobs.end()) {
      if (!record.cancelled_by_nobody) jobs.push_back(record);
    } else if (is_over(known->state) && is_over(record.state) && record.state != known->state &&
               record.submit_time >= known->submit_time) {
      *known = record;
    }
  }
  return jobs;
}

}  // namespace slurm
