// Implements json.h: the request that submits a job. slurmrestd 22.05 refuses a field that it does
// not know, later ones ignore it with a warning, so every version gets only what it was seen to
// obey.
#include <stdexcept>

#include "base/text.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

// Cut at commas outside of brackets: "n[01-02,04],n09".
Json list_of(const std::string& text) {
  Json list = Json::array();
  std::string item;
  int depth = 0;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth <= 0) {
      if (!item.empty()) list.push_back(item);
      item.clear();
    } else {
      item += c;
    }
  }
  if (!item.empty()) list.push_back(item);
  return list;
}

// A number without "set" is ignored silently.
Json set_number(int64_t number) { return {{"set", true}, {"infinite", false}, {"number", number}}; }

std::string node_count(const Resources& resources) {
  if (!resources.min_nodes && !resources.max_nodes) return "";
  const int least = resources.min_nodes.value_or(1);
  const int most = resources.max_nodes.value_or(least);
  return least == most ? std::to_string(least) : std::to_string(least) + "-" + std::to_string(most);
}

// Slurm replaces %x and the like in this path; ours is literal.
std::string literal_path(const std::string& path) {
  std::string result;
  for (const char c : path) result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

std::map<std::string, std::string> environment_of(const JobRequest& request) {
  // Every version refuses a job without an environment.
  if (request.environment.empty()) return {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  return request.environment;
}

void put_text(Json& job, const char* key, const std::string& value) {
  if (!value.empty()) job[key] = value;
}

template <typename Number>
void put_number(Json& job, const char* key, const std::optional<Number>& value) {
  if (value) job[key] = *value;
}

Json common_fields(const JobRequest& request, const Resources& resources) {
  Json job = {{"name", request.name},
              {"current_working_directory",
               resources.directory.empty() ? request.directory : resources.directory},
              {"standard_output", literal_path(request.output_path)},
              {"dependency", "singleton"}};
  put_text(job, "comment", request.comment);
  put_text(job, "standard_error", resources.error_path);
  if (request.hold) job["hold"] = true;
  put_text(job, "partition", resources.partition);
  put_text(job, "qos", resources.qos);
  put_text(job, "account", resources.account);
  put_text(job, "reservation", resources.reservation);
  put_text(job, "constraints", resources.constraint);
  put_text(job, "licenses", resources.licenses);
  put_text(job, "mail_user", resources.mail_user);
  put_text(job, "nodes", node_count(resources));
  put_number(job, "tasks", resources.tasks);
  put_number(job, "tasks_per_node", resources.tasks_per_node);
  put_number(job, "cpus_per_task", resources.cpus_per_task);
  put_number(job, "nice", resources.nice);
  put_text(job, "wckey", resources.wckey);
  put_number(job, "temporary_disk_per_node", resources.temporary_disk_mb);
  return job;
}

// v0.0.38: a time as a string only; "uts" is Slurm's own prefix of seconds since the epoch.
std::string time_text(const std::string& time) {
  return base::is_digits(time) ? "uts" + time : time;
}

Json body_of_22_05(const JobRequest& request, const Resources& resources) {
  Json job = common_fields(request, resources);
  job["environment"] = environment_of(request);
  job["no_requeue"] = true;  // "requeue": false does nothing
  put_number(job, "time_limit", resources.time_minutes);
  put_number(job, "memory_per_node", resources.memory_per_node_mb);
  put_number(job, "memory_per_cpu", resources.memory_per_cpu_mb);
  put_text(job, "gres", resources.gres);
  put_text(job, "gpus", resources.gpus);
  put_text(job, "gpus_per_node", resources.gpus_per_node);
  put_text(job, "gpus_per_task", resources.gpus_per_task);
  put_text(job, "exclusive", resources.exclusive);
  put_text(job, "nodelist", resources.nodelist);
  put_text(job, "exclude_nodes", resources.exclude);
  put_text(job, "mail_type", resources.mail_type);
  put_text(job, "begin_time", time_text(resources.begin));
  put_text(job, "deadline", time_text(resources.deadline));
  if (!resources.signal_name.empty()) {
    job["signal"] = resources.signal_name;
    if (resources.signal_delay) {
      job["signal"] = resources.signal_name + "@" + std::to_string(*resources.signal_delay);
    }
  }
  return {{"script", request.script}, {"job", job}};
}

// "gpu:4,nvme:1" -> "gres/gpu:4,gres/nvme:1"; "a100:8" with `kind` "gpu:" -> "gres/gpu:a100:8".
std::string as_tres(const std::string& list, const std::string& kind) {
  std::string tres;
  for (const Json& item : list_of(list)) {
    std::string one = item.get<std::string>();
    if (one.starts_with("gres/") || one.starts_with("gres:")) one = one.substr(5);
    tres += (tres.empty() ? "" : ",") + ("gres/" + kind) + one;
  }
  return tres;
}

Json mail_types(const std::string& text) {
  static const std::map<std::string, std::vector<std::string>> words = {
      {"ALL", {"BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT", "INVALID_DEPENDENCY"}},
      {"NONE", {}},
      {"INVALID_DEPEND", {"INVALID_DEPENDENCY"}},
      {"TIME_LIMIT", {"TIME=100%"}},
      {"TIME_LIMIT_90", {"TIME=90%"}},
      {"TIME_LIMIT_80", {"TIME=80%"}},
      {"TIME_LIMIT_50", {"TIME=50%"}},
  };
  Json types = Json::array();
  for (const Json& word : list_of(text)) {
    const auto found = words.find(word.get<std::string>());
    if (found == words.end()) {
      types.push_back(word);
    } else {
      for (const std::string& type : found->second) types.push_back(type);
    }
  }
  return types;
}

// "exclusive" and "oversubscribe" are ignored from v0.0.42 on; "shared" counts everywhere.
void put_exclusive(Json& job, const std::string& exclusive) {
  if (exclusive.empty()) return;
  job["shared"] = Json::array({exclusive == "exclusive" ? "none" : exclusive});
}

// Later versions ignore "gres" and "gpus", which would give a job without GPUs.
void put_gpus(Json& job, const Resources& resources) {
  std::string per_node = as_tres(resources.gres, "");
  const std::string gpus = as_tres(resources.gpus_per_node, "gpu:");
  if (!per_node.empty() && !gpus.empty()) per_node += ",";
  put_text(job, "tres_per_node", per_node + gpus);
  put_text(job, "tres_per_job", as_tres(resources.gpus, "gpu:"));
  put_text(job, "tres_per_task", as_tres(resources.gpus_per_task, "gpu:"));
}

void put_times(Json& job, const Resources& resources) {
  if (resources.time_minutes) {
    job["time_limit"] = *resources.time_minutes < 0 ? Json{{"infinite", true}}
                                                    : set_number(*resources.time_minutes);
  }
  if (base::is_digits(resources.begin)) {
    job["begin_time"] = set_number(std::stoll(resources.begin));
  } else {
    put_text(job, "begin_time", resources.begin);
  }
  if (base::is_digits(resources.deadline)) {
    job["deadline"] = std::stoll(resources.deadline);
  } else {
    put_text(job, "deadline", resources.deadline);
  }
}

Json body_of_later(ApiVersion version, const JobRequest& request, const Resources& resources) {
  Json job = common_fields(request, resources);
  Json environment = Json::array();
  for (const auto& [name, value] : environment_of(request)) {
    environment.push_back(name + "=" + value);
  }
  job["environment"] = environment;
  job["requeue"] = false;
  put_times(job, resources);
  put_gpus(job, resources);
  put_exclusive(job, resources.exclusive);
  if (resources.memory_per_node_mb) {
    job["memory_per_node"] = set_number(*resources.memory_per_node_mb);
  }
  if (resources.memory_per_cpu_mb) job["memory_per_cpu"] = set_number(*resources.memory_per_cpu_mb);
  if (!resources.nodelist.empty()) job["required_nodes"] = list_of(resources.nodelist);
  if (!resources.exclude.empty()) job["excluded_nodes"] = list_of(resources.exclude);
  if (!resources.mail_type.empty()) job["mail_type"] = mail_types(resources.mail_type);
  put_text(job, "kill_warning_signal", resources.signal_name);
  if (!resources.signal_name.empty() && resources.signal_delay) {
    job["kill_warning_delay"] = set_number(*resources.signal_delay);
  }
  // 23.11 offers v0.0.40 as well, and takes the script beside the job only.
  if (version == ApiVersion::kV40) return {{"script", request.script}, {"job", job}};
  job["script"] = request.script;
  return {{"job", job}};
}

}  // namespace

std::string submit_body(ApiVersion version, const JobRequest& request, const Resources& resources) {
  const Json body = version == ApiVersion::kV38 ? body_of_22_05(request, resources)
                                                : body_of_later(version, request, resources);
  try {
    return body.dump();
  } catch (const Json::exception&) {
    throw std::runtime_error("job " + request.name +
                             ": its script, folder or environment is not UTF-8, which slurmrestd "
                             "requires: rename the files concerned");
  }
}

std::string release_body() { return R"({"hold":false})"; }

}  // namespace slurm
