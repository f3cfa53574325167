// What befalls the model cluster: outages, crashes of its controller, lost nodes, strange hands.
#include <algorithm>

#include "tests/unit/scheduler/model/model_cluster.h"

namespace tests {

using slurm::JobState;

void ModelCluster::bad_luck() {
  if (random_.chance(faults.outage)) {
    ++faults_done_;
    outage_until_ms_ = std::max(outage_until_ms_, now_ms_ + random_.between(1000, 300'000));
  }
  if (random_.chance(faults.forget)) crash_controller();
  if (faults.node == 0 && faults.outsider == 0) return;
  for (Job& job : jobs_) {
    if (job.gone || job.status.state == job.end) continue;
    if (job.status.state == JobState::kRunning && random_.chance(faults.node)) trouble(job);
    if (random_.chance(faults.outsider)) outside_hands(job);
  }
}

// Acknowledged jobs of the last seconds are lost, and their numbers are given out again.
void ModelCluster::crash_controller() {
  ++faults_done_;
  const int64_t since = seconds() - random_.between(1, 30);
  for (Job& job : jobs_) {
    if (job.gone || job.status.submit_time < since) continue;
    next_id_ = std::min(next_id_, static_cast<int64_t>(std::stoll(job.status.job_id)));
    if (job.run >= 0) {
      if (random_.chance(500)) {
        ghosts_.push_back({job, now_ms_ + random_.between(1000, 300'000)});
        job.run = -1;
      } else {
        stop_run(job, false);
      }
    }
    // slurmdbd still believes that it waits.
    if (accounting_) {
      accounts_.push_back(job.status);
      accounts_.back().state = JobState::kPending;
    }
    job.gone = true;
  }
  outage_until_ms_ = std::max(outage_until_ms_, now_ms_ + random_.between(0, 20'000));
}

void ModelCluster::trouble(Job& job) {
  ++faults_done_;
  switch (random_.between(0, 5)) {
    case 0:
    case 1:
      requeue(job);
      break;
    case 2:
      stop_run(job, random_.chance(500));
      end_job(job, JobState::kPreempted, std::nullopt);
      break;
    case 3:
      end_job(job, JobState::kNodeFail, std::nullopt);
      break;
    case 4:
      blame(job);
      stop_run(job, random_.chance(500));
      end_job(job, JobState::kTimeout, std::nullopt);
      break;
    default:
      blame(job);
      end_job(job, JobState::kOutOfMemory, std::nullopt);
      break;
  }
}

void ModelCluster::outside_hands(Job& job) {
  ++faults_done_;
  if (job.status.state == JobState::kPending) {
    if (random_.chance(500)) {
      job.admin_hold = job.status.held = true;
    } else {
      blame(job);
      end_job(job, JobState::kCancelled, std::nullopt);
    }
    return;
  }
  if (random_.chance(500)) {
    requeue(job);
  } else {
    blame(job);
    end_job(job, JobState::kCancelled, std::nullopt);
  }
}

void ModelCluster::clear_faults() {
  outage_until_ms_ = 0;
  for (Job& job : jobs_) {
    if (!job.admin_hold) continue;
    job.admin_hold = job.status.held = false;
  }
}

}  // namespace tests
