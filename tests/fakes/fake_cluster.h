// A cluster that does what the test sets up and records the requests that it gets.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "slurm/cluster.h"
#include "slurm/cluster_facts.h"

namespace tests {

class FakeCluster : public slurm::Cluster {
 public:
  // How the next submissions go; the first is used and removed, none = kAccept.
  enum class Fault { kAccept, kAcceptAndLoseAnswer, kLoseRequest, kReject, kThrowAfterAccepting };
  std::vector<Fault> faults{};
  slurm::Refusal refusal = slurm::Refusal::kConfiguration;  // of kReject
  std::string refusal_message = "no such partition";
  // When true a submission is refused as with kReject; asked when `faults` has none left.
  std::function<bool(const slurm::JobRequest&)> refuses{};
  std::function<void()> while_listing{};                    // called in each states()
  slurm::JobState first_state = slurm::JobState::kRunning;  // of a job that is not held
  std::optional<int> gpus_given{};                          // of each new job
  int requests_left = 1000;                                 // each request takes one
  bool counts_requests = false;
  bool releases = true;
  int machines = 16;

  // What was asked.
  std::vector<slurm::JobRequest> requests{};
  std::vector<std::string> cancelled{};
  std::vector<std::string> signalled{};
  std::vector<std::string> forgotten{};
  std::vector<std::string> released{};
  std::vector<std::string> names_asked{};
  int looks_by_name = 0;
  int facts_asked = 0;

  // What it knows.
  std::vector<slurm::JobStatus> jobs{};
  std::vector<slurm::JobStatus> accounting{};
  bool complete = true;
  bool fresh = true;
  bool names_can_be_asked = true;
  slurm::ClusterFacts cluster_facts{};

  slurm::SubmitResult submit(const slurm::JobRequest& request) override {
    spend();
    requests.push_back(request);
    Fault fault = Fault::kAccept;
    if (!faults.empty()) {
      fault = faults.front();
      faults.erase(faults.begin());
    } else if (refuses && refuses(request)) {
      fault = Fault::kReject;
    }
    if (fault == Fault::kReject) {
      return {.outcome = slurm::SubmitOutcome::kRejected,
              .job_id = "",
              .message = refusal_message,
              .refusal = refusal};
    }
    if (fault == Fault::kLoseRequest) return unanswered();
    const std::string id = add(request.name);
    slurm::JobStatus& job = jobs.back();
    job.held = request.hold;
    job.state = request.hold ? slurm::JobState::kPending : first_state;
    job.gpus = gpus_given;
    if (fault == Fault::kThrowAfterAccepting) throw std::runtime_error("connection reset");
    if (fault == Fault::kAcceptAndLoseAnswer) return unanswered();
    return {.outcome = slurm::SubmitOutcome::kAccepted, .job_id = id, .message = ""};
  }

  bool release(const std::string& job_id) override {
    spend();
    released.push_back(job_id);
    if (!releases) return false;
    for (auto& job : jobs) {
      if (job.job_id != job_id || !job.held) continue;
      job.held = false;
      job.state = first_state;
    }
    return true;
  }

  slurm::Snapshot states() override {
    if (while_listing) while_listing();
    if (!complete) {
      return {.complete = false, .problem = "the cluster does not answer", .jobs = {}};
    }
    if (fresh) last_ = jobs;
    return {.complete = true, .problem = "", .jobs = last_, .fresh = fresh};
  }

  std::optional<std::vector<slurm::JobStatus>> find_by_name(const std::string& name) override {
    spend();
    ++looks_by_name;
    names_asked.push_back(name);
    if (!names_can_be_asked) return std::nullopt;
    std::vector<slurm::JobStatus> found;
    for (const auto& job : jobs) {
      if (job.name == name) found.push_back(job);
    }
    for (const auto& record : accounting) {
      if (record.name == name) found.push_back(record);
    }
    return found;
  }

  bool cancel(const std::string& job_id) override {
    spend();
    cancelled.push_back(job_id);
    return false;
  }
  bool signal_stop(const std::string& job_id) override {
    spend();
    signalled.push_back(job_id);
    return true;
  }
  void forget(const std::string& job_id) override {
    forgotten.push_back(job_id);
    std::erase_if(jobs, [&](const auto& job) { return job.job_id == job_id; });
  }
  int allowance() override { return requests_left; }
  int nodes() override { return machines; }
  slurm::ClusterFacts facts() override {
    ++facts_asked;
    return cluster_facts;
  }
  std::string test_only(const slurm::JobRequest&) override { return "would start now"; }
  std::vector<slurm::Finding> examine(const slurm::Examination&) override { return {}; }
  std::string describe() const override { return "fake cluster"; }

  // A job that runs. Returns its id.
  std::string add(const std::string& name) {
    slurm::JobStatus job;
    job.job_id = std::to_string(++last_id_);
    job.name = name;
    job.state = slurm::JobState::kRunning;
    job.host = "node1";
    job.submit_time = last_id_;
    jobs.push_back(job);
    return job.job_id;
  }

  slurm::JobStatus& job(const std::string& name) {
    for (auto& job : jobs) {
      if (job.name == name) return job;
    }
    throw std::runtime_error("no job " + name);
  }

  void end(const std::string& name, slurm::JobState state, std::optional<int> exit_code) {
    job(name).state = state;
    job(name).exit_code = exit_code;
  }

 private:
  static slurm::SubmitResult unanswered() {
    return {.outcome = slurm::SubmitOutcome::kUnknown, .job_id = "", .message = "timed out"};
  }

  void spend() {
    if (!counts_requests) return;
    if (requests_left <= 0) throw std::logic_error("a request beyond the site's limit");
    --requests_left;
  }

  std::vector<slurm::JobStatus> last_{};  // as they were listed
  int last_id_ = 100;
};

}  // namespace tests
