#include "tests/fakes/fake_answers.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>

namespace tests {
namespace {

using nlohmann::json;

int64_t seconds(int64_t ms, int64_t shift) { return ms == 0 ? 0 : ms / 1000 + shift; }

json number(int64_t value) { return {{"set", true}, {"infinite", false}, {"number", value}}; }
json no_number() { return {{"set", false}, {"infinite", false}, {"number", 0}}; }

bool is_signalled(int wait_status) { return (wait_status & 0x7f) != 0; }

json exit_in_words(int wait_status) {
  const int signal = wait_status & 0x7f;
  const char* name = signal == 0 ? "" : sigabbrev_np(signal);
  return {{"status",
           {signal != 0        ? "SIGNALED"
            : wait_status != 0 ? "ERROR"
                               : "SUCCESS"}},
          {"return_code", signal != 0 ? no_number() : number(wait_status >> 8)},
          {"signal",
           {{"id", signal != 0 ? number(signal) : no_number()},
            {"name", name == nullptr ? "" : name}}}};
}

json accounting_exit(int wait_status) {
  json code = {{"status", wait_status == 0 ? "SUCCESS" : "ERROR"},
               {"return_code", wait_status >> 8}};
  if (is_signalled(wait_status)) {
    const int signal = wait_status & 0x7f;
    code["status"] = "SIGNALED";
    code["signal"] = {{"signal_id", signal}, {"name", strsignal(signal)}};
  }
  return code;
}

std::string tres_of(const FakeJobRequest& request) {
  std::string text = "cpu=1,mem=100M,node=" + std::to_string(request.nodes) + ",billing=1";
  const int gpus = request.gpus_per_node * request.nodes;
  if (gpus > 0) text += ",gres/gpu=" + std::to_string(gpus);
  return text;
}

// What every version shows under the same name and in the same shape.
void put_common(const FakeJob& from, json& to) {
  const FakeJobRequest& request = from.request;
  to["account"] = request.account;
  to["batch_host"] = from.batch_host;
  to["comment"] = request.comment;
  to["current_working_directory"] = request.directory;
  to["dependency"] = request.dependency == "singleton" && from.reason == "Dependency"
                         ? "singleton(unfulfilled)"
                         : "";
  to["job_id"] = from.id;
  to["name"] = request.name.empty() ? "allocation" : request.name;
  to["nodes"] = from.nodes;
  to["partition"] = request.partition;
  to["qos"] = request.qos;
  to["restart_cnt"] = from.restarts;
  to["state_reason"] = from.reason;
  to["tres_per_job"] = request.tres_per_job;
  to["tres_per_node"] = request.tres_per_node;
  to["tres_req_str"] = tres_of(request);
  to["tres_alloc_str"] = from.nodes.empty() ? "" : tres_of(request);
  to["user_name"] = request.user;
  to["group_name"] = request.user;
  if (from.nodes.empty()) to.erase("job_resources");
}

json no_errors_of(json body) {
  body["errors"] = json::array();
  return body;
}

FakeAnswer json_answer(int status, const json& body) {
  return {.status = status, .body = body.dump() + "\n"};
}

}  // namespace

FakeAnswers::FakeAnswers(const std::string& release) : release_(release) {
  const std::string path = MARGAY_SOURCE_DIR "/tests/data/slurm/fake/slurm-" + release + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no recorded answers: " + path);
  const json all = json::parse(file);
  for (const auto& [name, entry] : all.items()) {
    recordings_[name] = {.method = entry.at("method"),
                         .path = entry.at("path"),
                         .request = entry.value("request", json()),
                         .status = entry.at("status"),
                         .answer = entry.at("answer")};
  }
  versions_ = oldest() ? std::vector<std::string>{"v0.0.38"}
                       : std::vector<std::string>{"v0.0.40", "v0.0.41", "v0.0.42"};
}

const RecordedAnswer& FakeAnswers::recorded(const std::string& name) const {
  const auto found = recordings_.find(name);
  if (found == recordings_.end()) throw std::runtime_error("no recorded answer '" + name + "'");
  return found->second;
}

FakeAnswer FakeAnswers::as_recorded(const std::string& name, const std::string& version) const {
  const RecordedAnswer& recording = recorded(name);
  if (recording.answer.is_string()) {
    return {.status = recording.status,
            .body = recording.answer.get<std::string>(),
            .content_type = "text/plain"};
  }
  json body = recording.answer;
  if (body.contains("/meta/plugin/data_parser"_json_pointer)) {
    body["meta"]["plugin"]["data_parser"] = "data_parser/" + version;
  }
  return json_answer(recording.status, body);
}

// A good answer about nothing.
json FakeAnswers::empty(const std::string& version) const {
  json body = json::parse(as_recorded("ping", version).body);
  body.erase("pings");
  return body;
}

std::string FakeAnswers::job_recording(const std::string& version) const {
  return oldest() ? "job" : "job_" + version;
}

FakeAnswer FakeAnswers::submitted(const std::string& version, int64_t id,
                                  const FakeSubmission& what) const {
  if (oldest()) {
    const bool held = what.request.hold;
    json body = recorded(held ? "submit_held" : "submit").answer;
    body["job_id"] = id;
    return json_answer(200, body);
  }
  json body = recorded("submit_" + version).answer;
  body["job_id"] = id;
  if (body.contains("result")) body["result"]["job_id"] = id;
  for (const std::string& key : what.ignored) {
    body["warnings"].push_back({{"description", "Ignoring unknown field \"" + key +
                                                    "\" of type string in "
                                                    "DATA_PARSER_JOB_DESC_MSG"},
                                {"source", "#/job/" + key + "/"}});
  }
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::refused(const std::string& version, const FakeRefusal& refusal) const {
  json body = empty(version);
  json& errors = body["errors"] = json::array();
  if (oldest()) {
    if (!refusal.unknown_key.empty()) {
      errors.push_back({{"description", "Unknown key \"" + refusal.unknown_key + "\""},
                        {"source", "hsearch_r"}});
    }
    errors.push_back({{"error_code", refusal.code}, {"error", refusal.words}});
  } else {
    errors.push_back({{"description", "Batch job submission failed"},
                      {"error_number", refusal.code},
                      {"error", refusal.words},
                      {"source", "slurm_submit_batch_job()"}});
  }
  return json_answer(refusal.status, body);
}

json FakeAnswers::job(const std::string& version, const FakeJob& job, int64_t shift) const {
  json shown = recorded(job_recording(version)).answer.at("jobs").at(0);
  put_common(job, shown);
  const int64_t minutes = job.request.minutes;
  const bool held = job.request.hold && job.state == "PENDING";
  const int64_t expected = job.started_ms + minutes * 60'000;
  const int64_t end = job.state == "RUNNING" ? expected : job.ended_ms;
  const auto as_number = [&](int64_t value) { return oldest() ? json(value) : number(value); };
  shown["accrue_time"] = as_number(seconds(job.submitted_ms, shift));
  shown["eligible_time"] = as_number(held ? 0 : seconds(job.submitted_ms, shift));
  shown["submit_time"] = as_number(seconds(job.submitted_ms, shift));
  shown["start_time"] = as_number(seconds(job.started_ms, shift));
  shown["end_time"] = as_number(seconds(end, shift));
  shown["time_limit"] = as_number(minutes);
  shown["priority"] = as_number(held ? 0 : 1000);
  shown["node_count"] = as_number(job.request.nodes);
  shown["tasks"] = as_number(job.request.tasks);
  if (oldest()) {
    shown["job_state"] = job.completing ? "COMPLETING" : job.state;
    shown["exit_code"] = job.wait_status;
    return shown;
  }
  shown["job_state"] = json::array({job.state});
  if (job.completing) shown["job_state"].push_back("COMPLETING");
  shown["exit_code"] = exit_in_words(job.wait_status);
  shown["hold"] = held;
  shown["standard_output"] = job.request.output;
  return shown;
}

FakeAnswer FakeAnswers::jobs(const std::string& version, const std::vector<FakeJob>& jobs,
                             int64_t shift) const {
  json body = recorded(job_recording(version)).answer;
  body["jobs"] = json::array();
  for (const FakeJob& one : jobs) body["jobs"].push_back(job(version, one, shift));
  return json_answer(200, body);
}

json FakeAnswers::accounting_job(const FakeJob& job, int64_t shift) const {
  json shown = recorded("accounting_job").answer.at("jobs").at(0);
  const FakeJobRequest& request = job.request;
  shown["job_id"] = job.id;
  shown["name"] = request.name.empty() ? "allocation" : request.name;
  shown["account"] = request.account;
  shown["partition"] = request.partition;
  shown["qos"] = request.qos;
  shown["user"] = request.user;
  shown["nodes"] = job.nodes.empty() ? "None assigned" : job.nodes;
  shown["allocation_nodes"] = job.nodes.empty() ? 0 : request.nodes;
  if (job.over()) shown["comment"]["job"] = request.comment;
  json& time = shown["time"];
  time["submission"] = seconds(job.submitted_ms, shift);
  time["eligible"] = seconds(job.submitted_ms, shift);
  time["start"] = seconds(job.started_ms, shift);
  time["end"] = seconds(job.ended_ms, shift);
  shown["state"]["reason"] = job.reason;
  if (job.state == "CANCELLED") shown["kill_request_user"] = request.user;
  if (oldest()) {
    shown["state"]["current"] = job.state;
    shown["exit_code"] = accounting_exit(job.wait_status);
  } else {
    shown["state"]["current"] = json::array({job.state});
    shown["exit_code"] = exit_in_words(job.wait_status);
    shown["restart_cnt"] = job.restarts;
  }
  return shown;
}

FakeAnswer FakeAnswers::accounting_jobs(const std::string& version,
                                        const std::vector<FakeJob>& jobs, int64_t shift) const {
  if (jobs.empty()) return as_recorded("accounting_none", version);
  json body = json::parse(as_recorded("accounting_job", version).body);
  body["jobs"] = json::array();
  for (const FakeJob& one : jobs) body["jobs"].push_back(accounting_job(one, shift));
  return json_answer(200, body);
}

// The recorded answer with another job id in its text.
FakeAnswer FakeAnswers::about_job(const std::string& recording, const std::string& version,
                                  const std::string& id) const {
  FakeAnswer answer = as_recorded(recording, version);
  const std::string& path = recorded(recording).path;
  const std::string old = path.substr(path.rfind('/') + 1);
  for (const std::string& mark : {"JobId=" + old, "\"step_id\":\"" + old}) {
    const size_t at = answer.body.find(mark);
    if (at == std::string::npos) continue;
    answer.body.replace(at + mark.size() - old.size(), old.size(), id);
  }
  return answer;
}

FakeAnswer FakeAnswers::partitions(const std::string& version,
                                   const std::vector<std::string>& names) const {
  json body = empty(version);
  body["partitions"] = json::array();
  for (const std::string& name : names) {
    const bool closed = name == names.back();
    json shown;
    if (oldest()) {
      const json& all = recorded("partitions").answer.at("partitions");
      shown = closed ? all.back() : all.front();
    } else {
      shown["maximums"]["time"] = {{"set", false}, {"infinite", true}, {"number", 0}};
      shown["nodes"] = {{"configured", "n[01-16]"}, {"total", 16}};
      shown["partition"]["state"] = json::array({closed ? "DOWN" : "UP"});
    }
    shown["name"] = name;
    body["partitions"].push_back(shown);
  }
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::nodes(const std::string& version, int count) const {
  json body = empty(version);
  body["nodes"] = json::array();
  for (int i = 1; i <= count; ++i) {
    json shown;
    if (oldest()) {
      shown = recorded("node").answer.at("nodes").at(0);
    } else {
      shown["state"] = json::array({"IDLE"});
      shown["gres"] = "gpu:4";
    }
    shown["name"] = (i < 10 ? "n0" : "n") + std::to_string(i);
    body["nodes"].push_back(shown);
  }
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::qos(const std::string& version) const {
  json body = empty(version);
  json& all = body[oldest() ? "QOS" : "qos"] = json::array();
  for (const char* name : {"normal", "low", "lowrq", "high"}) {
    all.push_back({{"name", name}, {"flags", json::array()}});
  }
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::associations(const std::string& version, const std::string& user) const {
  json body = empty(version);
  body["associations"] = json::array(
      {{{"account", "research"}, {"cluster", "testbed"}, {"partition", nullptr}, {"user", user}}});
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::openapi(bool accounting) const {
  json body = {{"openapi", "3.0.2"}, {"paths", json::object()}};
  for (const std::string& version : versions_) {
    for (const char* call : {"jobs", "job/{job_id}", "job/submit", "ping", "nodes", "partitions"}) {
      body["paths"]["/slurm/" + version + "/" + call] = json::object();
    }
    if (accounting) body["paths"]["/slurmdb/" + version + "/jobs"] = json::object();
  }
  return json_answer(200, body);
}

FakeAnswer FakeAnswers::signal_refused(const std::string& version) const {
  json body = no_errors_of(empty(version));
  body["errors"].push_back({{"description", "invalid signal: 0"},
                            {"error_number", 9000},
                            {"error", "Query empty or not RFC7320 compliant"},
                            {"source", "HTTP request: signal"}});
  return json_answer(400, body);
}

}  // namespace tests
