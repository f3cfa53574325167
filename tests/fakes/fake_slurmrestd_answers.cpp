// Implements fake_slurmrestd.h: what it does and answers.
#include <algorithm>
#include <optional>

#include "tests/fakes/fake_slurmrestd.h"

namespace tests {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

FakeAnswer FakeSlurmrestd::route(FakeCall& call) {
  const std::string& method = call.request.method;
  const bool reads = method == "GET";
  if (call.what == "ping" && reads) return answers_.as_recorded("ping", call.version);
  if (call.what == "jobs" && reads) return list(call);
  if (call.what == "job/submit" && method == "POST") return submit(call);
  if (call.what == "job" && reads) return get(call);
  if (call.what == "job" && method == "POST") return update(call);
  if (call.what == "job" && method == "DELETE") return remove(call);
  if (call.what == "nodes" && reads) return answers_.nodes(call.version, 16);
  if (call.what == "partitions" && reads) {
    return answers_.partitions(call.version, options_.cluster.partitions);
  }
  if (call.what == "diag" && reads && options_.release == "22.05") {
    return answers_.as_recorded("diag", call.version);
  }
  const bool known = call.what == "jobs" || call.what == "job" || call.what == "ping";
  return answers_.as_recorded(known ? "wrong_method" : "unknown_url", call.version);
}

FakeAnswer FakeSlurmrestd::route_accounting(const FakeCall& call) {
  if (call.what == "jobs") {
    const auto name = call.request.query.find("job_name");
    return answers_.accounting_jobs(
        call.version, cluster_.accounting(name == call.request.query.end() ? "" : name->second),
        shift_);
  }
  if (call.what == "job") {
    std::vector<FakeJob> jobs = cluster_.accounting();
    std::erase_if(jobs, [&](const FakeJob& job) { return std::to_string(job.id) != call.id; });
    return answers_.accounting_jobs(call.version, jobs, shift_);
  }
  if (call.what == "qos") return answers_.qos(call.version);
  if (call.what == "associations") return answers_.associations(call.version, call.request.user);
  return answers_.as_recorded("unknown_url", call.version);
}

FakeAnswer FakeSlurmrestd::submit(FakeCall& call) {
  const json body = json::parse(call.request.body, nullptr, false);
  if (body.is_discarded() || call.request.content_type != "application/json") {
    return answers_.as_recorded("malformed", call.version);
  }
  FakeSubmission submission = read_submission(call.version, body, options_.cluster.partitions);
  if (submission.crashes) return {.status = 0};
  if (call.meets(Mishap::kRefusePartition)) {
    submission.refusal = FakeRefusal{500, 2000, "Invalid partition name specified"};
  }
  if (submission.refusal) return answers_.refused(call.version, *submission.refusal);
  submission.request.user = call.request.user.empty() ? "alice" : call.request.user;
  if (const FakeFault* fault = call.fault_of(Mishap::kHung)) {
    sleep(milliseconds(fault->number));
    const std::scoped_lock lock(mutex_);
    late_.emplace(steady_clock::now() + milliseconds(fault->late), submission.request);
    return hung(call);
  }
  return answers_.submitted(call.version, cluster_.submit(submission.request), submission);
}

FakeAnswer FakeSlurmrestd::list(const FakeCall& call) {
  std::vector<FakeJob> jobs = cluster_.jobs();
  if (const FakeFault* fault = call.fault_of(Mishap::kRowsMissing)) {
    jobs.resize(jobs.size() - std::min<size_t>(jobs.size(), static_cast<size_t>(fault->number)));
  }
  if (call.meets(Mishap::kUnknownState)) {
    for (FakeJob& job : jobs) job.state = "WARPING";
  }
  return answers_.jobs(call.version, jobs, shift_);
}

FakeAnswer FakeSlurmrestd::get(const FakeCall& call) {
  if (!is_number(call.id)) return answers_.about_job("job_bad_id", call.version, call.id);
  auto job = cluster_.job(std::stoll(call.id));
  if (!job) return answers_.about_job("job_unknown", call.version, call.id);
  if (call.meets(Mishap::kUnknownState)) job->state = "WARPING";
  return answers_.jobs(call.version, {*job}, shift_);
}

FakeAnswer FakeSlurmrestd::update(const FakeCall& call) {
  const json body = json::parse(call.request.body, nullptr, false);
  if (body.is_discarded()) return answers_.as_recorded("malformed", call.version);
  if (!is_number(call.id) || !cluster_.job(std::stoll(call.id))) {
    return answers_.refused(call.version, {500, 2017, "Invalid job id specified"});
  }
  const bool oldest = options_.release == "22.05";
  if (oldest && body.contains("job")) {
    FakeAnswer answer =
        answers_.refused(call.version, {200, 9001, "Failure during parsing", "job"});
    return answer;
  }
  if (body.contains("hold") && body["hold"].is_boolean()) {
    cluster_.set_held(std::stoll(call.id), body["hold"].get<bool>());
  }
  if (oldest) return answers_.as_recorded("update", call.version);
  json good = json::parse(answers_.as_recorded("ping", call.version).body);
  good.erase("pings");
  good["results"] = nullptr;
  return {.body = good.dump()};
}

FakeAnswer FakeSlurmrestd::remove(const FakeCall& call) {
  const auto given = call.request.query.find("signal");
  const int number = given == call.request.query.end() ? -1 : signal_of(given->second);
  if (number == 0) return answers_.signal_refused(call.version);
  const bool known = is_number(call.id) && cluster_.job(std::stoll(call.id)).has_value();
  if (options_.release == "22.05" && !known) {
    json body = answers_.recorded("update").answer;
    body["errors"] = {{{"description", "unable to kill JobId=" + call.id +
                                           " with signal 9: Invalid job id specified"},
                       {"error_number", 2017},
                       {"error", "Invalid job id specified"},
                       {"source", "slurm_kill_job"}}};
    return {.status = 500, .body = body.dump()};
  }
  if (!known) return answers_.about_job("delete_unknown", call.version, call.id);
  const int64_t id = std::stoll(call.id);
  const bool over = cluster_.job(id).value_or(FakeJob{}).over();
  if (number == -1) {
    cluster_.cancel(id);
  } else {
    cluster_.signal_steps(id, number);
  }
  if (options_.release == "22.05") return answers_.as_recorded("update", call.version);
  json body = json::parse(answers_.about_job("delete_unknown", call.version, call.id).body);
  if (!over) {
    body["status"] = json::array();
  } else {
    const char* words = "Job/step already completing or completed";
    body["status"][0]["error"] = {{"string", words}, {"code", 2021}, {"message", words}};
    body["status"][0]["job_id"] = {{"set", true}, {"infinite", false}, {"number", id}};
  }
  return {.body = body.dump()};
}

FakeAnswer FakeSlurmrestd::bad_token(const FakeCall& call) const {
  const bool oldest = options_.release == "22.05";
  const std::string& version = call.version;
  if (call.kind == Asked::kPing) return answers_.as_recorded("token_ping", version);
  if (call.kind == Asked::kSubmit) return answers_.as_recorded("token_submit", version);
  const bool changes = call.kind == Asked::kUpdate || call.kind == Asked::kDelete;
  if (!oldest) return answers_.as_recorded(changes ? "token_submit" : "token_jobs", version);
  if (call.what == "job") return answers_.about_job("down_job", version, call.id);
  if (call.what == "nodes" || call.what == "partitions") {
    return answers_.as_recorded("down_" + call.what, version);
  }
  return answers_.as_recorded("token_jobs", version);
}

FakeAnswer FakeSlurmrestd::without_controller(const FakeCall& call) const {
  switch (call.kind) {
    case Asked::kSubmit:
      return answers_.as_recorded("down_submit", call.version);
    case Asked::kUpdate:
    case Asked::kDelete:
      return answers_.about_job("down_delete", call.version, call.id);
    case Asked::kGet:
      return answers_.about_job("down_job", call.version, call.id);
    case Asked::kPing:
      return answers_.as_recorded("down_ping", call.version);
    case Asked::kAny:
      return answers_.as_recorded("down_nodes", call.version);
    case Asked::kList:
    case Asked::kAccounting:
      return answers_.as_recorded("down_jobs", call.version);
  }
  return {};
}

FakeAnswer FakeSlurmrestd::hung(const FakeCall& call) const {
  if (call.kind == Asked::kSubmit) return answers_.as_recorded("hung_submit", call.version);
  if (options_.release != "22.05") return answers_.as_recorded("hung_jobs", call.version);
  json body = answers_.recorded("token_jobs").answer;
  body["errors"][0]["error_number"] = 5004;
  body["errors"][0]["error"] = "Socket timed out on send/recv operation";
  return {.status = 500, .body = body.dump()};
}

}  // namespace tests
