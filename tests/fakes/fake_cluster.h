// A cluster that does what the test says and remembers what it was asked.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "slurm/cluster.h"

namespace tests {

class FakeCluster : public slurm::Cluster {
 public:
  // How the next submissions go; the first is used and removed, none = kAccept.
  enum class Fault { kAccept, kAcceptAndLoseAnswer, kLoseRequest, kReject, kThrowAfterAccepting };
  std::vector<Fault> faults{};
  slurm::Refusal refusal = slurm::Refusal::kConfiguration;  // of kReject
  int requests_left = 1000;
  int machines = 16;

  // What was asked.
  std::vector<slurm::JobRequest> requests{};
  std::vector<std::string> cancelled{};
  std::vector<std::string> forgotten{};
  std::vector<std::string> released{};
  int looks_by_name = 0;

  // What it knows.
  std::vector<slurm::JobStatus> jobs{};
  bool complete = true;
  bool fresh = true;
  bool names_can_be_asked = true;

  slurm::SubmitResult submit(const slurm::JobRequest& request) override {
    requests.push_back(request);
    Fault fault = Fault::kAccept;
    if (!faults.empty()) {
      fault = faults.front();
      faults.erase(faults.begin());
    }
    if (fault == Fault::kReject) {
      return {.outcome = slurm::SubmitOutcome::kRejected,
              .job_id = "",
              .message = "no such partition",
              .refusal = refusal};
    }
    if (fault == Fault::kLoseRequest) return unanswered();
    const std::string id = add(request.name);
    job(request.name).held = request.hold;
    if (fault == Fault::kThrowAfterAccepting) throw std::runtime_error("connection reset");
    if (fault == Fault::kAcceptAndLoseAnswer) return unanswered();
    return {.outcome = slurm::SubmitOutcome::kAccepted, .job_id = id, .message = ""};
  }

  bool release(const std::string& job_id) override {
    released.push_back(job_id);
    return true;
  }

  slurm::Snapshot states() override {
    if (!complete) {
      return {.complete = false, .problem = "the cluster does not answer", .jobs = {}};
    }
    return {.complete = true, .problem = "", .jobs = jobs, .fresh = fresh};
  }

  std::optional<std::vector<slurm::JobStatus>> find_by_name(const std::string& name) override {
    ++looks_by_name;
    if (!names_can_be_asked) return std::nullopt;
    std::vector<slurm::JobStatus> found;
    for (const auto& job : jobs) {
      if (job.name == name) found.push_back(job);
    }
    return found;
  }

  bool cancel(const std::string& job_id) override {
    cancelled.push_back(job_id);
    return false;
  }
  bool signal_stop(const std::string&) override { return true; }
  void forget(const std::string& job_id) override {
    forgotten.push_back(job_id);
    std::erase_if(jobs, [&](const auto& job) { return job.job_id == job_id; });
  }
  int allowance() override { return requests_left; }
  int nodes() override { return machines; }
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

  int last_id_ = 100;
};

}  // namespace tests
