#include "tests/fakes/fake_submission.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <sstream>

namespace tests {
namespace {

using nlohmann::json;
using Keys = std::set<std::string>;

constexpr int kGpusOfANode = 4;
constexpr size_t kLongestName = 1024;

Keys words(const std::string& text) {
  std::istringstream stream(text);
  Keys keys;
  for (std::string word; stream >> word;) keys.insert(word);
  return keys;
}

const Keys& keys_of(const std::string& version) {
  static const Keys oldest = words(
      "account account_gather_frequency argv array batch_features begin_time burst_buffer "
      "cluster_constraint comment constraints container core_specification cores_per_socket "
      "cpu_binding cpu_binding_hint cpu_frequency cpus_per_gpu cpus_per_task "
      "current_working_directory deadline delay_boot dependency distribution environment "
      "exclude_nodes exclusive get_user_environment gres gres_flags gpu_binding gpu_frequency gpus "
      "gpus_per_node gpus_per_socket gpus_per_task hold kill_on_invalid_dependency licenses "
      "mail_type mail_user mcs_label memory_binding memory_per_cpu memory_per_node "
      "minimum_cpus_per_node minimum_nodes name nice no_kill no_requeue nodelist nodes open_mode "
      "oversubscribe partition prefer priority qos requeue reservation signal sockets_per_node "
      "spread_job standard_error standard_input standard_output tasks tasks_per_core "
      "tasks_per_node tasks_per_socket test_only thread_specification threads_per_core time_limit "
      "time_minimum wait_all_nodes wckey");
  static const Keys newer = words(
      "account admin_comment argv array batch_features begin_time flags burst_buffer clusters "
      "comment constraints container contiguous core_specification cpus_per_task cpus_per_tres "
      "current_working_directory deadline delay_boot dependency distribution environment "
      "excluded_nodes extra group_id hold immediate kill_on_node_fail kill_warning_delay "
      "kill_warning_flags kill_warning_signal licenses mail_type mail_user maximum_nodes mcs_label "
      "memory_per_cpu memory_per_node memory_per_tres minimum_cpus minimum_cpus_per_node "
      "minimum_nodes name network nice nodes ntasks_per_tres open_mode overcommit partition prefer "
      "priority qos reboot required_nodes requeue reservation script shared sockets_per_node "
      "spank_environment standard_error standard_input standard_output tasks tasks_per_core "
      "tasks_per_node tasks_per_socket temporary_disk_per_node thread_specification "
      "threads_per_core time_limit time_minimum tres_bind tres_freq tres_per_job tres_per_node "
      "tres_per_socket tres_per_task user_id wait_all_nodes wckey");
  static const Keys v40 = [] {
    Keys keys = newer;
    keys.merge(words("exclusive oversubscribe cores_per_socket"));
    return keys;
  }();
  if (version == "v0.0.38") return oldest;
  return version == "v0.0.40" ? v40 : newer;
}

std::string text_of(const json& job, const std::string& key, const std::string& otherwise = "") {
  const auto found = job.find(key);
  if (found == job.end() || found->is_null()) return otherwise;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Plain, or {set, infinite, number}, which is nothing without set.
std::optional<int64_t> number_of(const json& job, const std::string& key) {
  const auto found = job.find(key);
  if (found == job.end()) return std::nullopt;
  if (found->is_number()) return found->get<int64_t>();
  if (found->is_object()) {
    if (found->value("infinite", false)) return -1;
    if (!found->value("set", false)) return std::nullopt;
    return found->value("number", int64_t{0});
  }
  const std::string text = text_of(job, key);
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::optional(std::stoll(text)) : std::nullopt;
}

// The last number of "gpu:4", "gpu:a100:2", "gres/gpu:4" or "4".
int count_of(const std::string& text) {
  const size_t last = text.find_last_not_of("0123456789");
  const std::string digits = last == std::string::npos ? text : text.substr(last + 1);
  return digits.empty() ? 0 : std::stoi(digits);
}

void read_gpus(const json& job, FakeJobRequest& request) {
  int per_node = 0;
  for (const char* key : {"gres", "gpus_per_node", "tres_per_node"}) {
    if (const std::string text = text_of(job, key); !text.empty()) per_node = count_of(text);
  }
  int in_all = 0;
  for (const char* key : {"gpus", "tres_per_job"}) {
    if (const std::string text = text_of(job, key); !text.empty()) in_all = count_of(text);
  }
  for (const char* key : {"gpus_per_task", "tres_per_task"}) {
    if (const std::string text = text_of(job, key); !text.empty()) {
      in_all = count_of(text) * request.tasks;
    }
  }
  const std::string form = job.contains("tres_per_node") ? "gres/gpu:" : "gres:gpu:";
  if (per_node > 0) request.tres_per_node = form + std::to_string(per_node);
  if (in_all > 0) request.tres_per_job = form + std::to_string(in_all);
  request.gpus_per_node = per_node > 0 ? per_node : (in_all + request.nodes - 1) / request.nodes;
}

void read_environment(const json& job, FakeJobRequest& request) {
  const auto found = job.find("environment");
  if (found == job.end()) return;
  if (found->is_array()) {
    for (const json& pair : *found) request.environment.push_back(pair.get<std::string>());
  } else if (found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      request.environment.push_back(name + "=" +
                                    (value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
}

// "USR1@120", or two fields.
void read_warning(const json& job, FakeJobRequest& request) {
  const std::string both = text_of(job, "signal");
  const size_t at = both.find('@');
  if (!both.empty()) {
    request.warning_signal = signal_of(both.substr(0, at));
    if (at != std::string::npos) request.warning_seconds = std::stoi(both.substr(at + 1));
  }
  if (const std::string name = text_of(job, "kill_warning_signal"); !name.empty()) {
    request.warning_signal = signal_of(name);
    request.warning_seconds = static_cast<int>(number_of(job, "kill_warning_delay").value_or(60));
  }
}

// The fields that the version knows.
FakeJobRequest read_job(const json& job) {
  FakeJobRequest request;
  request.name = text_of(job, "name");
  request.comment = text_of(job, "comment");
  request.directory = text_of(job, "current_working_directory", "/");
  request.output = text_of(job, "standard_output");
  request.error = text_of(job, "standard_error");
  request.account = text_of(job, "account", request.account);
  request.partition = text_of(job, "partition", request.partition);
  request.qos = text_of(job, "qos", request.qos);
  request.dependency = text_of(job, "dependency");
  request.licenses = text_of(job, "licenses");
  request.hold = job.contains("hold") && job["hold"].is_boolean() && job["hold"].get<bool>();
  request.minutes = static_cast<int>(number_of(job, "time_limit").value_or(request.minutes));
  request.tasks = static_cast<int>(number_of(job, "tasks").value_or(1));
  const std::string nodes = text_of(job, "nodes");
  const bool is_list = job.contains("nodes") && job["nodes"].is_array();
  if (!nodes.empty() && !is_list) request.nodes = std::max(1, std::stoi(nodes));
  read_environment(job, request);
  read_warning(job, request);
  read_gpus(job, request);
  return request;
}

std::optional<FakeRefusal> refusal_of(const FakeJobRequest& request, bool oldest,
                                      const std::vector<std::string>& partitions) {
  static const Keys accounts = words("research root");
  static const Keys qos = words("normal low lowrq high");
  const auto refuse = [](int code, const std::string& why, int status = 500) {
    return FakeRefusal{.status = status, .code = code, .words = why};
  };
  if (request.script.empty()) {
    return refuse(oldest ? 2009 : 9000, "Job script not specified", oldest ? 500 : 422);
  }
  if (request.environment.empty()) {
    return oldest ? refuse(2127, "environment must be set", 400)
                  : refuse(2019, "environment must be set");
  }
  if (!request.script.starts_with("#!")) {
    return refuse(2009, "This does not look like a batch script");
  }
  if (request.name.size() > kLongestName || request.comment.size() > kLongestName) {
    return refuse(2012, "Pathname of a file, directory or other parameter too long");
  }
  if (std::find(partitions.begin(), partitions.end(), request.partition) == partitions.end()) {
    return refuse(2000, "Invalid partition name specified");
  }
  if (!accounts.contains(request.account)) {
    return refuse(2045, "Invalid account or account/partition combination specified");
  }
  if (!qos.contains(request.qos)) return refuse(2066, "Invalid qos specification");
  if (!request.licenses.empty()) return refuse(2048, "Invalid license specification");
  if (request.gpus_per_node > kGpusOfANode) {
    return refuse(2014, "Requested node configuration is not available");
  }
  return std::nullopt;
}

}  // namespace

int signal_of(const std::string& word) {
  static const std::map<std::string, int> names = {
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"KILL", SIGKILL}, {"USR1", SIGUSR1},
      {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"CONT", SIGCONT}, {"STOP", SIGSTOP}};
  const std::string name = word.starts_with("SIG") ? word.substr(3) : word;
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoi(name) : 0;
}

FakeSubmission read_submission(const std::string& version, const json& body,
                               const std::vector<std::string>& partitions) {
  const bool oldest = version == "v0.0.38";
  FakeSubmission submission;
  if (!body.is_object() || !body.contains("job") || !body["job"].is_object()) {
    submission.refusal =
        FakeRefusal{400, 9002, "Jobs description entry not found, empty or not dictionary or list"};
    return submission;
  }
  json known = json::object();
  for (const auto& [key, value] : body["job"].items()) {
    if (keys_of(version).contains(key)) {
      known[key] = value;
    } else if (oldest) {
      submission.refusal = FakeRefusal{400, 9001, "Failure during parsing", key};
      return submission;
    } else {
      submission.ignored.push_back(key);
    }
  }
  submission.crashes = oldest && known.contains("argv");
  if (oldest && known.contains("environment") && !known["environment"].is_object()) {
    submission.refusal = FakeRefusal{400, -1, "environment must be a dictionary"};
    return submission;
  }
  if (oldest && text_of(known, "signal").starts_with("B:")) {
    submission.refusal = FakeRefusal{400, 9001, "Failure during parsing"};
    return submission;
  }
  submission.request = read_job(known);
  submission.request.script = text_of(body, "script", text_of(known, "script"));
  submission.refusal = refusal_of(submission.request, oldest, partitions);
  return submission;
}

}  // namespace tests
