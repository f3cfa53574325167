#include "slurm/commands/parse.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse_number.h"
#include "base/slurm_lists.h"
#include "base/text.h"
#include "slurm/commands/text_fields.h"
#include "slurm/gpu_count.h"
#include "slurm/job_records.h"
#include "slurm/job_states.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

using base::parse_number;

// Neither occurs in Slurm's output. Records end with a character of their own, since the name of
// somebody else's job may hold a newline.
constexpr char kField = '\x1f';
constexpr char kRecord = '\x1e';

// False: the text is neither a time nor absent.
bool read_time(std::string_view text, int64_t& time) {
  time = 0;
  if (is_absent(text)) return true;
  const auto number = parse_number<int64_t>(text);
  time = number.value_or(0);
  return number.has_value();
}

// "3:0", exit code and signal.
bool read_exit_pair(std::string_view text, JobStatus& job) {
  const size_t colon = text.find(':');
  if (colon == text.npos) return false;
  const auto code = parse_number<int>(text.substr(0, colon));
  const auto signal = parse_number<int>(text.substr(colon + 1));
  if (!code || !signal) return false;
  if (*signal != 0) job.signal = *signal;
  if (*signal == 0 || *code != 0) job.exit_code = *code;
  return true;
}

bool read_exit(std::string_view text, JobStatus& job) {
  if (read_exit_pair(text, job)) return true;
  const auto status = parse_number<int>(text);
  if (status) set_exit_of_wait_status(*status, job);
  return status.has_value();
}

enum QueueField : size_t {
  kId,
  kState,
  kExit,
  kRestarts,
  kSubmit,
  kStart,
  kEnd,
  kHost,
  kPriority,
  kTres,
  kPerJob,
  kPerNode,
  kPerTask,
  kNodes,
  kTasks,
  kReason,
  kName,
  kQueueFields
};

constexpr std::array<std::string_view, kQueueFields> kQueueNames = {
    "JobID",         "State",     "exit_code",    "RestartCnt", "SubmitTime",   "StartTime",
    "EndTime",       "BatchHost", "PriorityLong", "tres-alloc", "tres-per-job", "tres-per-node",
    "tres-per-task", "NumNodes",  "NumTasks",     "Reason",     "Name"};

using Fields = std::vector<std::string_view>;

// While a job waits, tres-alloc is what it asks for, but it has GPUs only where the site accounts
// for them.
int gpus_asked(const Fields& fields) {
  if (const auto gpus = gpus_in(fields[kTres])) return *gpus;
  if (const auto gpus = gpus_in(fields[kPerJob])) return *gpus;
  if (const auto gpus = gpus_in(fields[kPerNode])) {
    return times_gpus(*gpus, parse_number<int>(fields[kNodes]).value_or(1));
  }
  if (const auto gpus = gpus_in(fields[kPerTask])) {
    return times_gpus(*gpus, parse_number<int>(fields[kTasks]).value_or(1));
  }
  return 0;
}

// Between the reason and the name, where everybody's jobs are asked for.
enum OthersField : size_t {
  kOthersUser = kName,
  kOthersAccount,
  kOthersQos,
  kOthersPartition,
  kOthersNodeList,
  kOthersCpus,
  kOthersLimit,
  kOthersTasks,
  kOthersName
};
constexpr std::array<std::string_view, 8> kOthersNames = {
    "UserName", "Account", "QOS", "Partition", "NodeList", "NumCPUs", "TimeLimit", "ArrayTaskID"};

bool is_held(const JobStatus& job, std::string_view priority) {
  return job.state == JobState::kPending && (priority == "0" || says_held(job.reason));
}

bool read_times(std::string_view submit, std::string_view start, std::string_view end,
                JobStatus& job) {
  if (!read_time(submit, job.submit_time) || !read_time(start, job.start_time) ||
      !read_time(end, job.end_time)) {
    return false;
  }
  // Before a job has run these are only expected, or the time of its cancellation.
  if (job.state == JobState::kPending || job.host.empty()) job.start_time = 0;
  if (!is_over(job.state)) job.end_time = 0;
  return true;
}

// What squeue and sacct show alike. nullopt: it is not a job.
std::optional<JobStatus> read_job(std::string_view id, std::string_view name,
                                  std::string_view state, std::string_view host) {
  const std::set<std::string> words = split_words(std::string(state));
  if (!base::is_digits(id) || words.empty()) return std::nullopt;
  return JobStatus{.job_id = std::string(id),
                   .name = std::string(name),
                   .state = state_of(words),
                   .words = join_words(words),
                   .exit_code = {},
                   .signal = {},
                   .reason = "",
                   .host = present(host)};
}

std::optional<JobStatus> read_queued(const Fields& fields) {
  auto job = read_job(fields[kId], fields.back(), fields[kState], fields[kHost]);
  const auto restarts = parse_number<int>(fields[kRestarts]);
  if (!job || !restarts) return std::nullopt;
  job->reason = present(fields[kReason]);
  job->restarts = *restarts;
  job->held = is_held(*job, fields[kPriority]);
  job->gpus = gpus_asked(fields);
  if (!read_times(fields[kSubmit], fields[kStart], fields[kEnd], *job)) return std::nullopt;
  if (is_over(job->state) && !read_exit(fields[kExit], *job)) return std::nullopt;
  return job;
}

// A refused submission leaves a failed job in the queue and in accounting that never existed.
bool was_refused(const JobStatus& job) {
  return job.state == JobState::kFailed && job.host.empty() && job.end_time == job.submit_time;
}

enum RecordField : size_t {
  kRecordId,
  kRecordState,
  kRecordExit,
  kRecordSubmit,
  kRecordStart,
  kRecordEnd,
  kRecordHost,
  kRecordTres,
  kRecordName,
  kRecordFields
};

std::optional<JobStatus> read_record(const Fields& fields) {
  auto job =
      read_job(fields[kRecordId], fields[kRecordName], fields[kRecordState], fields[kRecordHost]);
  if (!job) return std::nullopt;
  job->gpus = gpus_in(fields[kRecordTres]).value_or(0);
  job->cancelled_by_nobody = job->state == JobState::kCancelled &&
                             fields[kRecordState].find(" by ") == std::string_view::npos;
  if (!read_times(fields[kRecordSubmit], fields[kRecordStart], fields[kRecordEnd], *job)) {
    return std::nullopt;
  }
  if (is_over(job->state) && !read_exit_pair(fields[kRecordExit], *job)) return std::nullopt;
  return job;
}

// Seconds of "1-00:00:00" in minutes; unset where there is no limit.
std::optional<int64_t> limit_minutes_of(std::string_view text) {
  const auto seconds = parse_time(std::string(text));
  return seconds && *seconds > 0 ? std::optional(*seconds / 60) : std::nullopt;
}

std::optional<QueuedJob> read_everybodys(const Fields& fields) {
  auto status = read_queued(fields);
  if (!status) return std::nullopt;
  QueuedJob job{.status = *std::move(status),
                .user = present(fields[kOthersUser]),
                .account = present(fields[kOthersAccount]),
                .qos = present(fields[kOthersQos]),
                .nodes = parse_number<int>(fields[kNodes]).value_or(0),
                .cpus = parse_number<int>(fields[kOthersCpus]).value_or(0),
                .limit_minutes = limit_minutes_of(fields[kOthersLimit]),
                .priority = parse_number<int64_t>(fields[kPriority]).value_or(0)};
  for (std::string& name : base::split(std::string(fields[kOthersPartition]), ',')) {
    if (!is_absent(name)) job.partitions.insert(std::move(name));
  }
  if (job.status.state == JobState::kPending) {
    read_time(fields[kStart], job.expected_start);
    if (!is_absent(fields[kOthersTasks])) job.waiting_tasks = base::tasks_in(fields[kOthersTasks]);
  } else if (!is_over(job.status.state)) {
    job.node_list = present(fields[kOthersNodeList]);
    job.status.host = job.node_list;
    read_time(fields[kEnd], job.limit_end);
  }
  return job;
}

// The fields of each record, to `take`. Returns why the list may be incomplete: it is cut, or
// `take` cannot do without a job that it could not read.
template <typename Take>
std::string for_each_job(std::string_view text, size_t count, const Take& take) {
  while (!text.empty()) {
    const size_t end = text.find(kRecord);
    if (end == text.npos) return "squeue's list ends in the middle of a job";
    const Fields fields = split_at_most(text.substr(0, end), kField, count);
    text.remove_prefix(end + 1);
    next_line(text);
    const bool readable = fields.size() == count;
    if (readable && take(fields)) continue;
    return "squeue's list has a job that cannot be read: " +
           std::string(readable ? fields.back() : fields.front().substr(0, 80));
  }
  return "";
}

// Of squeue's --Format: our own fields, with the fields of other users' jobs before the name.
std::string format_of(bool everybody) {
  std::string format;
  for (size_t i = 0; i < kName; ++i) format += std::string(kQueueNames.at(i)) + ":" + kField + ",";
  if (everybody) {
    for (const std::string_view name : kOthersNames)
      format += std::string(name) + ":" + kField + ",";
  }
  return format + std::string(kQueueNames.at(kName)) + ":" + kRecord;
}

}  // namespace

// Without a width a field is neither padded nor cut. --me and not --user=...: the command may be a
// wrapper of the site that runs squeue as another user.
Words squeue_arguments() {
  return {"--noheader", "--states=all", "--me", "--Format=" + format_of(false)};
}

Words squeue_arguments_of_everybody() {
  return {"--noheader", "--all", "--Format=" + format_of(true)};
}

QueueText parse_squeue(std::string_view text, const std::string& name_prefix) {
  QueueText queue;
  queue.problem = for_each_job(text, kQueueFields, [&](const Fields& fields) {
    if (!fields.back().starts_with(name_prefix)) return true;
    auto job = read_queued(fields);
    if (job && !was_refused(*job)) queue.jobs.push_back(std::move(*job));
    return job.has_value();
  });
  return queue;
}

EverybodyText parse_squeue_of_everybody(std::string_view text, const std::string& name_prefix) {
  EverybodyText queue;
  queue.problem = for_each_job(text, kOthersName + 1, [&](const Fields& fields) {
    const bool ours = fields.back().starts_with(name_prefix);
    auto job = read_everybodys(fields);
    if (!job) return !ours;
    job->ours = ours;
    if (!is_over(job->status.state)) queue.jobs.push_back(std::move(*job));
    return true;
  });
  return queue;
}

Words sacct_arguments(const std::string& name, int days) {
  return {"--noheader",
          "--allocations",
          "--duplicates",
          "--parsable2",
          std::string("--delimiter=") + kField,
          "--name=" + name,
          "--starttime=now-" + std::to_string(days) + "days",
          "--format=JobIDRaw,State,ExitCode,Submit,Start,End,NodeList,ReqTRES,JobName"};
}

std::optional<std::vector<JobStatus>> parse_sacct(std::string_view text, const std::string& name) {
  std::vector<JobStatus> jobs;
  while (!text.empty()) {
    const Fields fields = split_at_most(next_line(text), kField, kRecordFields);
    if (fields.size() != kRecordFields) return std::nullopt;
    if (fields[kRecordName] != name) continue;
    auto job = read_record(fields);
    if (!job) return std::nullopt;
    if (!was_refused(*job)) keep_last_run(jobs, std::move(*job));
  }
  return jobs;
}

bool says_accounting_is_off(const std::string& error) {
  return error.find("Slurm accounting storage is disabled") != std::string::npos ||
         error.find("not running a supported accounting_storage plugin") != std::string::npos;
}

bool says_too_many_days(const std::string& error) {
  return error.find("Too wide of a date range in query") != std::string::npos;
}

}  // namespace slurm
