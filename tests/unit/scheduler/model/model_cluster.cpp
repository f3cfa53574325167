#include "tests/unit/scheduler/model/model_cluster.h"

#include <algorithm>
#include <stdexcept>

#include "tests/unit/scheduler/model/model_time.h"

namespace tests {

using slurm::JobState;

ModelCluster::ModelCluster(uint64_t seed, int requests_per_minute, bool accounting)
    : random_(seed),
      per_minute_(requests_per_minute),
      accounting_(accounting),
      budget_x1000_(requests_per_minute * 1000 / 6) {}

int64_t ModelCluster::seconds() const { return (kModelStartMs + now_ms_) / 1000; }

void ModelCluster::violate(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

void ModelCluster::blame(const Job& job) { blamed_.insert(job.item); }

ModelCluster::Job* ModelCluster::find(const std::string& job_id) {
  for (Job& job : jobs_) {
    if (!job.gone && job.status.job_id == job_id) return &job;
  }
  return nullptr;
}

int ModelCluster::running() const {
  return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [](const Job& job) {
    return !job.gone && job.status.state == JobState::kRunning;
  }));
}

bool ModelCluster::idle() const {
  const auto busy = [](const Job& job) { return !job.gone && job.status.state != job.end; };
  return late_.empty() && ghosts_.empty() && std::none_of(jobs_.begin(), jobs_.end(), busy);
}

bool ModelCluster::has_living(const std::string& job_id, const std::string& name) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) {
    return !job.gone && job.status.job_id == job_id && job.status.name == name &&
           job.status.state != job.end;
  });
}

// --- requests ----------------------------------------------------------------------------------

// Counts a request; false: beyond the site's limit, so that it was not sent.
bool ModelCluster::send() {
  if (budget_x1000_ < 1000) return false;
  budget_x1000_ -= 1000;
  sent_ms_.push_back(now_ms_);
  while (sent_ms_.front() + 60'000 <= now_ms_) sent_ms_.pop_front();
  if (static_cast<int>(sent_ms_.size()) > per_minute_ + per_minute_ / 6 + 1) {
    violate("more requests a minute than the site allows");
  }
  return true;
}

int ModelCluster::allowance() { return static_cast<int>(budget_x1000_ / 1000); }

std::string ModelCluster::create(const slurm::JobRequest& request) {
  Job job;
  job.status.job_id = std::to_string(next_id_++);
  job.status.name = request.name;
  job.status.state = JobState::kPending;
  job.status.held = request.hold;
  job.status.submit_time = seconds();
  job.folder = request.directory;
  // margay-<instance>-<item>-a<attempt>
  const size_t attempt = request.name.rfind("-a");
  const size_t item = request.name.rfind('-', attempt - 1);
  job.item = std::stoll(request.name.substr(item + 1));
  job.number = std::stoi(request.name.substr(attempt + 2));
  job.eligible_ms = now_ms_ + random_.between(0, 20'000);
  jobs_.push_back(job);
  return job.status.job_id;
}

slurm::SubmitResult ModelCluster::submit(const slurm::JobRequest& request) {
  using slurm::SubmitOutcome;
  if (!send()) {
    return {SubmitOutcome::kRejected, "", "no request left", slurm::Refusal::kBusy, {}};
  }
  if (++submitted_[request.name] > 1) violate(request.name + " was submitted twice");
  const slurm::SubmitResult unknown = {SubmitOutcome::kUnknown, "", "timed out", {}, {}};
  if (now_ms_ < outage_until_ms_ || random_.chance(faults.lose_request)) {
    ++faults_done_;
    return unknown;
  }
  if (random_.chance(faults.refuse)) {
    ++faults_done_;
    const bool busy = random_.chance(500);
    return {SubmitOutcome::kRejected,
            "",
            "the model refuses",
            busy ? slurm::Refusal::kBusy : slurm::Refusal::kConfiguration,
            {}};
  }
  if (random_.chance(faults.late)) {
    ++faults_done_;
    late_.push_back({request, now_ms_ + random_.between(0, 60'000)});
    return unknown;
  }
  const std::string id = create(request);
  if (random_.chance(faults.twice)) {
    ++faults_done_;
    create(request);
  }
  if (random_.chance(faults.broken)) throw std::runtime_error("connection reset");
  if (random_.chance(faults.lose_answer)) {
    ++faults_done_;
    return unknown;
  }
  return {SubmitOutcome::kAccepted, id, "", {}, {}};
}

bool ModelCluster::release(const std::string& job_id) {
  if (!send() || now_ms_ < outage_until_ms_) return false;
  Job* job = find(job_id);
  if (job == nullptr) return false;
  const bool lost = random_.chance(faults.lost_release);
  if (lost && random_.chance(500)) return false;
  job->status.held = job->admin_hold;
  return !lost;
}

bool ModelCluster::cancel(const std::string& job_id) {
  if (!send() || now_ms_ < outage_until_ms_) return false;
  Job* job = find(job_id);
  if (job == nullptr || job->status.state == job->end) return true;
  if (job->status.state == JobState::kPending) {
    end_job(*job, JobState::kCancelled, std::nullopt);
  } else if (job->stop_ms == 0 || job->signalled) {
    job->stop_ms = now_ms_ + random_.between(0, 20'000);
    job->signalled = false;
  }
  return false;
}

// A script that prepares its search does not receive it.
bool ModelCluster::signal_stop(const std::string& job_id) {
  if (!send() || now_ms_ < outage_until_ms_) return false;
  Job* job = find(job_id);
  if (job == nullptr || job->run < 0 || job->stop_ms > 0 || random_.chance(100)) return false;
  job->stop_ms = now_ms_ + random_.between(0, 20'000);
  job->signalled = true;
  return true;
}

// What the controller reports of a job.
slurm::JobStatus ModelCluster::seen(const Job& job) {
  slurm::JobStatus status = job.status;
  if (random_.chance(faults.strange_word)) {
    status.state = JobState::kUnknownAlive;
    status.held = false;
  }
  if (job.clean_ms > now_ms_) {
    status.state = JobState::kCompleting;
    status.exit_code.reset();
  }
  return status;
}

slurm::Snapshot ModelCluster::states() {
  // As RestCluster: between two polls the last snapshot again.
  if (now_ms_ < next_snapshot_ms_) {
    slurm::Snapshot again = last_;
    again.fresh = false;
    return again;
  }
  if (!send()) {
    slurm::Snapshot again = last_;
    again.fresh = false;
    return again;
  }
  next_snapshot_ms_ = now_ms_ + 10'000;
  last_ = {};
  last_.complete = now_ms_ >= outage_until_ms_;
  if (!last_.complete) {
    last_.problem = "the controller does not answer";
    return last_;
  }
  for (const Job& job : jobs_) {
    if (!job.gone) last_.jobs.push_back(seen(job));
  }
  if (random_.chance(faults.incomplete)) {
    ++faults_done_;
    last_.complete = false;
    last_.problem = "the listing is cut";
    last_.jobs.resize(static_cast<size_t>(random_.between(0, std::ssize(last_.jobs))));
  }
  return last_;
}

std::optional<std::vector<slurm::JobStatus>> ModelCluster::find_by_name(const std::string& name) {
  if (!send() || now_ms_ < outage_until_ms_) return std::nullopt;
  std::vector<slurm::JobStatus> found;
  std::set<std::string> ids;
  for (const Job& job : jobs_) {
    if (job.gone || job.status.name != name) continue;
    found.push_back(seen(job));
    ids.insert(job.status.job_id);
  }
  for (const slurm::JobStatus& record : accounts_) {
    if (record.name == name && ids.count(record.job_id) == 0) found.push_back(record);
  }
  return found;
}

// --- time --------------------------------------------------------------------------------------

void ModelCluster::pass(int64_t ms) {
  const int64_t until = now_ms_ + ms;
  while (now_ms_ + 1000 <= until) {
    now_ms_ += 1000;
    second();
  }
  now_ms_ = until;
}

void ModelCluster::second() {
  budget_x1000_ =
      std::min<int64_t>(budget_x1000_ + per_minute_ * 1000 / 60, per_minute_ * 1000 / 6);
  for (size_t i = 0; i < late_.size();) {
    if (late_[i].at_ms > now_ms_) {
      ++i;
      continue;
    }
    create(late_[i].request);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (Job& job : jobs_) {
    if (!job.gone) step(job);
  }
  step_ghosts();
  bad_luck();
}

bool ModelCluster::may_start(const Job& job) const {
  if (job.status.held || job.admin_hold || now_ms_ < job.eligible_ms) return false;
  if (running() >= kAtOnce) return false;
  // dependency: singleton
  return std::none_of(jobs_.begin(), jobs_.end(), [&](const Job& other) {
    return !other.gone && &other != &job && other.status.name == job.status.name &&
           (other.status.state == JobState::kRunning || other.clean_ms > now_ms_);
  });
}

void ModelCluster::step(Job& job) {
  if (job.status.state == JobState::kPending) {
    if (may_start(job)) start(job);
  } else if (job.status.state == JobState::kRunning) {
    work(job);
  } else if (now_ms_ >= job.purge_ms) {
    if (accounting_) accounts_.push_back(job.status);
    job.gone = true;
  }
}

void ModelCluster::start(Job& job) {
  job.status.state = JobState::kRunning;
  job.status.host = "n" + std::to_string(random_.between(1, kNodes));
  job.status.start_time = seconds();
  job.stop_ms = 0;
  job.signalled = false;
  begin_script(job);
}

void ModelCluster::work(Job& job) {
  if (job.stop_ms > 0 && now_ms_ >= job.stop_ms && job.signalled) {
    job.stop_ms = 0;
    if (job.run >= 0) {
      stop_run(job, true);
      end_job(job, JobState::kFailed, 85);
      return;
    }
  }
  if (job.stop_ms > 0 && now_ms_ >= job.stop_ms) {
    stop_run(job, true);
    end_job(job, JobState::kCancelled, random_.chance(500) ? std::optional<int>(85) : std::nullopt);
    return;
  }
  if (job.claim_ms > 0) {
    if (now_ms_ >= job.claim_ms) claim(job);
    return;
  }
  if (job.run >= 0 && now_ms_ >= job.look_ms) {
    job.look_ms = now_ms_ + 10'000;
    if (is_fenced(job)) {
      stop_run(job, true);
      job.exit_code = 85;
      job.done_ms = now_ms_;
    }
  }
  if (now_ms_ < job.done_ms) return;
  if (job.run >= 0 && job.exit_code == 0) {
    finish_run(job);
    // The script has its last line to do, and the node may still fail.
    job.done_ms = now_ms_ + random_.between(0, 5000);
    return;
  }
  if (job.run >= 0) stop_run(job, job.exit_code == 85);
  end_job(job, job.exit_code == 0 ? JobState::kCompleted : JobState::kFailed, job.exit_code);
}

void ModelCluster::end_job(Job& job, JobState state, std::optional<int> exit_code) {
  stop_run(job, false);
  job.status.state = job.end = state;
  job.status.exit_code = exit_code;
  job.status.held = false;
  job.status.end_time = seconds();
  job.clean_ms = now_ms_ + random_.between(0, 5000);
  job.purge_ms = now_ms_ + random_.between(60'000, 120'000);
}

void ModelCluster::requeue(Job& job) {
  stop_run(job, false);
  job.status.state = JobState::kPending;
  ++job.status.restarts;
  job.status.exit_code.reset();
  job.status.host.clear();
  job.status.start_time = 0;
  job.stop_ms = 0;
  job.signalled = false;
  job.eligible_ms = now_ms_ + random_.between(1000, 60'000);
}

// A forgotten job's process works on until its node learns of it; the fence holds for it as well.
void ModelCluster::step_ghosts() {
  for (Ghost& ghost : ghosts_) {
    Job& job = ghost.job;
    if (now_ms_ >= ghost.dies_ms) {
      stop_run(job, false);
      continue;
    }
    if (job.run < 0) continue;
    if (now_ms_ >= job.look_ms) {
      job.look_ms = now_ms_ + 10'000;
      if (is_fenced(job)) stop_run(job, true);
    }
    if (job.run >= 0 && now_ms_ >= job.done_ms) {
      if (job.exit_code == 0) {
        finish_run(job);
      } else {
        stop_run(job, job.exit_code == 85);
      }
    }
  }
  std::erase_if(ghosts_, [](const Ghost& ghost) { return ghost.job.run < 0; });
}

}  // namespace tests
