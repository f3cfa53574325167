// Implements json.h: one job, as the controller and as accounting show it.
#include <algorithm>

#include "base/slurm_lists.h"
#include "base/text.h"
#include "slurm/gpu_count.h"
#include "slurm/job_records.h"
#include "slurm/job_states.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

std::optional<int> small(std::optional<int64_t> number) {
  if (!number || *number < 0 || *number > 1'000'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

int64_t time_of(const Json& value) { return std::max<int64_t>(0, number_of(value).value_or(0)); }

// v0.0.38: a raw wait status; later and in accounting an object.
void set_exit(const Json& exit, JobStatus& job) {
  if (!exit.is_object() || exit.contains("set")) {
    if (const auto status = small(number_of(exit))) set_exit_of_wait_status(*status, job);
    return;
  }
  const Json& signal = member(exit, "signal");
  job.signal = small(number_of(member(signal, signal.contains("id") ? "id" : "signal_id")));
  if (job.signal == 0) job.signal.reset();
  if (!job.signal) job.exit_code = small(number_of(member(exit, "return_code")));
}

// Drops times and exit codes that are only forecasts of Slurm.
void keep_what_happened(const Json& exit, JobStatus& job) {
  if (job.state == JobState::kPending) job.start_time = 0;
  if (is_over(job.state)) {
    set_exit(exit, job);
    // A job that never ran, or was stopped, shows 0 as well.
    if (job.state != JobState::kCompleted && job.exit_code == 0) job.exit_code.reset();
  } else if (job.state != JobState::kCompleting) {
    job.end_time = 0;
  }
}

std::string reason_of(const Json& object) {
  const std::string reason = text_of(member(object, "state_reason"));
  // "ReqNodeNotAvail, UnavailableNodes:n15", or a sentence of its own.
  const std::string more = text_of(member(object, "state_description"));
  if (more.empty() || more == reason) return reason;
  if (reason.empty() || reason == "None" || more.starts_with(reason)) return more;
  return reason + ", " + more;
}

bool is_held(const Json& object, const JobStatus& job) {
  if (job.state != JobState::kPending) return false;
  const Json& hold = member(object, "hold");
  if (hold.is_boolean() && hold.get<bool>()) return true;
  return number_of(member(object, "priority")) == 0 || says_held(job.reason);
}

// Slurm's own sum, else what was asked for by job, node or task: a site that does not account for
// GPUs has no sum.
std::optional<int> gpus_of_job(const Json& object) {
  if (const auto sum = gpus_in(text_of(member(object, "tres_req_str")))) return sum;
  if (const auto job = gpus_in(text_of(member(object, "tres_per_job")))) return job;
  const auto times = [&](const char* key, const char* count) -> std::optional<int> {
    const auto each = gpus_in(text_of(member(object, key)));
    if (!each) return std::nullopt;
    return times_gpus(*each, number_of(member(object, count)).value_or(1));
  };
  if (const auto nodes = times("tres_per_node", "node_count")) return nodes;
  if (const auto tasks = times("tres_per_task", "tasks")) return tasks;
  if (!member(object, "tres_per_node").is_string()) return std::nullopt;
  return gpus_in(text_of(member(object, "tres_per_socket"))) ? std::nullopt : std::optional<int>(0);
}

// All hosts of the job; the batch host is only the first.
std::string host_of(const Json& object) {
  const std::string nodes = text_of(member(object, "nodes"));
  return nodes == "None assigned" ? "" : nodes;
}

// False: the object is not a job.
bool set_identity(const Json& object, JobStatus& job) {
  const int64_t id = number_of(member(object, "job_id")).value_or(0);
  if (id <= 0) return false;
  job.job_id = std::to_string(id);
  job.name = text_of(member(object, "name"));
  for (const char* key : {"restart_cnt", "restart_count"}) {
    job.restarts = std::max(job.restarts, small(number_of(member(object, key))).value_or(0));
  }
  return true;
}

std::optional<JobStatus> job_of(const Json& object) {
  JobStatus job;
  if (!object.is_object() || !set_identity(object, job)) return std::nullopt;
  const std::set<std::string> words = words_of(member(object, "job_state"));
  job.words = join_words(words);
  job.state = state_of(words);
  job.reason = reason_of(object);
  job.host = host_of(object);
  job.submit_time = time_of(member(object, "submit_time"));
  job.start_time = time_of(member(object, "start_time"));
  job.end_time = time_of(member(object, "end_time"));
  job.held = is_held(object, job);
  job.gpus = gpus_of_job(object);
  keep_what_happened(member(object, "exit_code"), job);
  return job;
}

// Minutes; unset where there is no limit, which v0.0.38 writes as a number beyond all others.
std::optional<int64_t> time_limit_of(const Json& object) {
  constexpr int64_t kNone = 4'294'967'294;
  const auto minutes = number_of(member(object, "time_limit"));
  return minutes && *minutes > 0 && *minutes < kNone ? minutes : std::nullopt;
}

// ["gpu:2(IDX:0-1)", ...], one for each node.
std::vector<int> gpus_by_node_of(const Json& detail) {
  std::vector<int> gpus;
  if (!detail.is_array()) return gpus;
  for (const Json& node : detail) gpus.push_back(gpus_in(text_of(node)).value_or(0));
  return gpus;
}

Names names_of(const Json& list) {
  Names names;
  for (const std::string& name : base::split(text_of(list), ',')) {
    if (!name.empty()) names.insert(name);
  }
  return names;
}

std::optional<QueuedJob> queued_job_of(const Json& object) {
  auto status = job_of(object);
  if (!status) return std::nullopt;
  QueuedJob job{.status = *std::move(status),
                .user = text_of(member(object, "user_name")),
                .account = text_of(member(object, "account")),
                .qos = text_of(member(object, "qos")),
                .partitions = names_of(member(object, "partition")),
                .nodes = small(number_of(member(object, "node_count"))).value_or(0),
                .cpus = small(number_of(member(object, "cpus"))).value_or(0),
                .limit_minutes = time_limit_of(object),
                .priority = number_of(member(object, "priority")).value_or(0)};
  if (job.status.state == JobState::kPending) {
    job.expected_start = time_of(member(object, "start_time"));
    const std::string tasks = text_of(member(object, "array_task_string"));
    if (!tasks.empty()) job.waiting_tasks = base::tasks_in(tasks);
  } else if (!is_over(job.status.state)) {
    job.node_list = job.status.host;
    job.gpus_by_node = gpus_by_node_of(member(object, "gres_detail"));
    job.limit_end = time_of(member(object, "end_time"));
  }
  return job;
}

std::optional<int> gpus_in_accounting(const Json& requested) {
  if (!requested.is_array()) return std::nullopt;
  std::optional<int> gpus;
  for (const Json* tres : objects_of(requested)) {
    const std::string name = text_of(member(*tres, "name"));
    const auto count = small(number_of(member(*tres, "count")));
    if (text_of(member(*tres, "type")) == "gres" && name == "gpu") gpus = count;
  }
  return gpus;
}

// The same facts under other names.
std::optional<JobStatus> accounted_job_of(const Json& object) {
  Json renamed = object;
  renamed["job_state"] = member(object, {"state", "current"});
  renamed["state_reason"] = member(object, {"state", "reason"});
  renamed["state_description"] = nullptr;
  renamed["submit_time"] = member(object, {"time", "submission"});
  renamed["start_time"] = member(object, {"time", "start"});
  renamed["end_time"] = member(object, {"time", "end"});
  std::optional<JobStatus> job = job_of(renamed);
  if (!job) return std::nullopt;
  job->gpus = gpus_in_accounting(member(object, {"tres", "requested"}));
  job->cancelled_by_nobody = job->state == JobState::kCancelled &&
                             object.contains("kill_request_user") &&
                             text_of(object.at("kill_request_user")).empty();
  return job;
}

}  // namespace

std::optional<JobStatus> parse_job(const std::string& object) { return job_of(parse_json(object)); }

std::optional<QueuedJob> parse_queued_job(const std::string& object) {
  return queued_job_of(parse_json(object));
}

std::vector<JobStatus> parse_accounting_jobs(const std::string& body) {
  const Json document = parse_json(body);
  std::vector<JobStatus> jobs;
  for (const Json* object : objects_of(member(document, "jobs"))) {
    if (std::optional<JobStatus> job = accounted_job_of(*object))
      keep_last_run(jobs, std::move(*job));
  }
  return jobs;
}

}  // namespace slurm
