#include "slurm/commands/parse.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/parse_number.h"
#include "base/text.h"
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

bool is_absent(std::string_view text) {
  static const std::set<std::string_view> words = {"",        "N/A",    "n/a",           "None",
                                                   "Unknown", "(null)", "None assigned", "(None)"};
  return words.count(text) > 0;
}

std::string present(std::string_view text) { return is_absent(text) ? "" : std::string(text); }

// False: the text is neither a time nor absent.
bool read_time(std::string_view text, int64_t& time) {
  time = 0;
  if (is_absent(text)) return true;
  const auto number = parse_number<int64_t>(text);
  time = number.value_or(0);
  return number.has_value();
}

std::vector<std::string_view> split(std::string_view text, char separator, size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const size_t end = text.find(separator);
    if (end == text.npos) break;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
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
    return *gpus * parse_number<int>(fields[kNodes]).value_or(1);
  }
  if (const auto gpus = gpus_in(fields[kPerTask])) {
    return *gpus * parse_number<int>(fields[kTasks]).value_or(1);
  }
  return 0;
}

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
  auto job = read_job(fields[kId], fields[kName], fields[kState], fields[kHost]);
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

constexpr size_t kNodeFields = 5;  // of sinfo_node_arguments()

// Of "research,physics"; empty: all.
Names names_in(const std::string& list) {
  Names names;
  for (const std::string& name : base::split(list, ',')) {
    if (!is_absent(name) && name != "ALL") names.insert(name);
  }
  return names;
}

// nullopt: "UNLIMITED" or "NONE".
std::optional<int64_t> limit_of(const std::string& value) { return parse_number<int64_t>(value); }

std::optional<int64_t> minutes_of(const std::string& value) {
  const auto seconds = parse_time(value);
  if (!seconds || *seconds < 0) return std::nullopt;
  return *seconds / 60;
}

PartitionFacts partition_of(std::map<std::string, std::string>& values) {
  return {.state = values["State"],
          .is_default = values["Default"] == "YES",
          .most_minutes = minutes_of(values["MaxTime"]),
          .most_nodes = limit_of(values["MaxNodes"]),
          .most_cpus = limit_of(values["MaxCPUsPerNode"]),
          .most_memory_mb = limit_of(values["MaxMemPerNode"]),
          .nodes = limit_of(values["TotalNodes"]),
          .accounts = names_in(values["AllowAccounts"]),
          .denied_accounts = names_in(values["DenyAccounts"]),
          .qos = names_in(values["AllowQos"]),
          .denied_qos = names_in(values["DenyQos"]),
          .own_qos = present(values["QoS"])};
}

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

// Without a width a field is neither padded nor cut. --me and not --user=...: the command may be a
// wrapper of the site that runs squeue as another user.
Words squeue_arguments() {
  std::string format;
  for (size_t i = 0; i < kQueueFields; ++i) {
    format += std::string(i == 0 ? "" : ",") + std::string(kQueueNames.at(i)) + ":";
    format += i + 1 == kQueueFields ? kRecord : kField;
  }
  return {"--noheader", "--states=all", "--me", "--Format=" + format};
}

QueueText parse_squeue(std::string_view text, const std::string& name_prefix) {
  QueueText queue;
  while (!text.empty() && queue.problem.empty()) {
    const size_t end = text.find(kRecord);
    if (end == text.npos) {
      queue.problem = "squeue's list ends in the middle of a job";
      break;
    }
    const Fields fields = split(text.substr(0, end), kField, kQueueFields);
    text.remove_prefix(end + 1);
    next_line(text);
    const bool readable = fields.size() == kQueueFields;
    if (readable && !fields[kName].starts_with(name_prefix)) continue;
    auto job = readable ? read_queued(fields) : std::nullopt;
    if (job) {
      if (!was_refused(*job)) queue.jobs.push_back(std::move(*job));
    } else {
      queue.problem = "squeue's list has a job that cannot be read: " +
                      std::string(readable ? fields[kName] : fields.front().substr(0, 80));
    }
  }
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
    const Fields fields = split(next_line(text), kField, kRecordFields);
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

NodeTotals parse_sinfo_nodes(std::string_view text) {
  std::map<std::string_view, NodeFacts> nodes;  // a node has a line for each of its partitions
  while (!text.empty()) {
    const Fields fields = split(next_line(text), '|', kNodeFields);
    if (fields.size() < 2 || fields[0].empty()) continue;
    NodeFacts& node = nodes[fields[0]];
    node.name = fields[0];
    node.gpus = gpus_in(fields[1]).value_or(0);
    if (fields.size() < kNodeFields) continue;
    node.partitions.emplace(fields[2]);
    node.cpus = parse_number<int64_t>(fields[3]).value_or(0);
    node.memory_mb = parse_number<int64_t>(fields[4]).value_or(0);
  }
  NodeTotals found;
  for (auto& [name, node] : nodes) {
    ++found.nodes;
    found.gpus += node.gpus;
    found.each.push_back(std::move(node));
  }
  return found;
}

Words sinfo_node_arguments() { return {"--noheader", "--Node", "--format=%N|%G|%R|%c|%m"}; }

std::map<std::string, PartitionFacts> parse_partitions_text(std::string_view text) {
  std::map<std::string, PartitionFacts> partitions;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    std::map<std::string, std::string> values;
    for (const std::string_view word : split(line, ' ', line.size() + 1)) {
      const size_t equals = word.find('=');
      if (equals == word.npos) continue;
      values.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    if (values["PartitionName"].empty()) continue;
    partitions[values["PartitionName"]] = partition_of(values);
  }
  return partitions;
}

std::map<std::string, std::string> parse_config(std::string_view text) {
  constexpr std::string_view kTime = "Configuration data as of ";
  std::map<std::string, std::string> config;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with(kTime)) config["as of"] = line.substr(kTime.size());
    const size_t equals = line.find('=');
    if (equals == line.npos || equals == 0) continue;
    const std::string_view name = line.substr(0, line.find_last_not_of(' ', equals - 1) + 1);
    const size_t value = std::min(line.find_first_not_of(' ', equals + 1), line.size());
    config[std::string(name)] = line.substr(value);
  }
  return config;
}

std::optional<int64_t> leading_number(const std::string& value) {
  return parse_number<int64_t>(std::string_view(value).substr(0, value.find(' ')));
}

std::string release_of(const std::string& version_text) {
  const size_t begin = version_text.find(' ');
  if (begin == std::string::npos) return "";
  return version_text.substr(begin + 1, version_text.find_first_of(" \n", begin + 1) - begin - 1);
}

}  // namespace slurm
