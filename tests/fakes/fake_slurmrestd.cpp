// Longer than 400 lines, since its answers share the state of one server.
#include "tests/fakes/fake_slurmrestd.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tests {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string trimmed_file(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  const std::string scontrol = "SLURM_JWT=";
  return text.starts_with(scontrol) ? text.substr(scontrol.size()) : text;
}

FakeHttpReply to_reply(const FakeAnswer& answer) {
  return {.status = answer.status, .body = answer.body, .content_type = answer.content_type};
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::string base64url(const std::string& bytes) {
  static constexpr const char* kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = (bits << 8U) | byte;
    for (count += 8; count >= 6; count -= 6) text += kLetters[(bits >> (count - 6)) & 63U];
  }
  if (count > 0) text += kLetters[(bits << (6 - count)) & 63U];
  return text;
}

const FakeFault* find(const std::vector<FakeFault>& faults, Mishap what) {
  const auto found = std::find_if(faults.begin(), faults.end(),
                                  [what](const FakeFault& fault) { return fault.what == what; });
  return found == faults.end() ? nullptr : &*found;
}

}  // namespace

std::string fake_token(const std::string& user, int64_t expires, int serial) {
  const json header = {{"alg", "HS256"}, {"typ", "JWT"}};
  const json payload = {{"exp", expires}, {"iat", expires - 1800}, {"sun", user}};
  return base64url(header.dump()) + "." + base64url(payload.dump()) + "." +
         base64url("signature " + std::to_string(serial));
}

// One request, taken apart.
struct FakeSlurmrestd::Call {
  const FakeHttpRequest& request;
  std::string service;  // "slurm" or "slurmdb"
  std::string version;
  std::string what;  // "jobs", "job", "job/submit", "ping" ...
  std::string id;    // of a job
  Asked kind = Asked::kAny;
  std::vector<FakeFault> faults{};

  bool meets(Mishap mishap) const { return find(faults, mishap) != nullptr; }
  std::string pattern() const {
    return request.method + " /" + service + "/" + version + "/" + what +
           (id.empty() ? "" : "/{id}");
  }

  explicit Call(const FakeHttpRequest& asked) : request(asked) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < asked.path.size();) {
      const size_t end = std::min(asked.path.find('/', at + 1), asked.path.size());
      parts.push_back(asked.path.substr(at + 1, end - at - 1));
      at = end;
    }
    parts.resize(std::max<size_t>(parts.size(), 4));
    service = parts[0];
    version = parts[1];
    what = parts[2];
    if (what == "job" && parts[3] == "submit") {
      what = "job/submit";
    } else {
      id = parts[3];
    }
    kind = kind_of();
  }

  Asked kind_of() const {
    if (service == "slurmdb") return Asked::kAccounting;
    if (what == "job/submit") return Asked::kSubmit;
    if (what == "jobs") return Asked::kList;
    if (what == "ping") return Asked::kPing;
    if (what != "job") return Asked::kAny;
    if (request.method == "DELETE") return Asked::kDelete;
    return request.method == "POST" ? Asked::kUpdate : Asked::kGet;
  }
};

FakeSlurmrestd::FakeSlurmrestd(FakeSlurmrestdOptions options)
    : options_(std::move(options)),
      answers_(options_.release),
      cluster_(options_.cluster),
      faults_(options_.faults),
      faults_since_(steady_clock::now()),
      port_(options_.port) {
  come_back();
  thread_ = std::thread([this] { watch(); });
}

FakeSlurmrestd::~FakeSlurmrestd() {
  stopping_ = true;
  thread_.join();
  go_away();
}

void FakeSlurmrestd::go_away() { http_.reset(); }

void FakeSlurmrestd::come_back() {
  http_ = std::make_unique<FakeHttp>(
      port_, options_.unix_path,
      [this](const FakeHttpRequest& request) { return handle(request); });
  port_ = http_->port();
}

std::string FakeSlurmrestd::url() const {
  return options_.unix_path.empty() ? "http://127.0.0.1:" + std::to_string(port_)
                                    : "unix:" + options_.unix_path;
}

void FakeSlurmrestd::set_faults(const std::string& text) {
  FaultScript script(text);
  const int starts = cluster_.starts();
  const std::scoped_lock lock(mutex_);
  starts_before_ = starts;
  faults_ = std::move(script);
  faults_since_ = steady_clock::now();
}

milliseconds FakeSlurmrestd::since_start() const {
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - faults_since_);
}

std::map<std::string, int> FakeSlurmrestd::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

bool FakeSlurmrestd::quiet() const {
  const std::scoped_lock lock(mutex_);
  return in_progress_ == 0 && late_.empty() && cluster_.alive() == 0;
}

int FakeSlurmrestd::asked(Asked kind) const {
  const std::scoped_lock lock(mutex_);
  const auto found = asked_.find(kind);
  return found == asked_.end() ? 0 : found->second;
}

std::vector<std::string> FakeSlurmrestd::log() const {
  const std::scoped_lock lock(mutex_);
  return log_;
}

// What happens by time, and what arrives late.
void FakeSlurmrestd::watch() {
  while (!stopping_) {
    std::vector<FakeFault> due;
    const int starts = cluster_.starts();
    {
      const std::scoped_lock lock(mutex_);
      due = faults_.due(since_start(), starts - starts_before_);
      while (!late_.empty() && late_.begin()->first <= steady_clock::now()) {
        cluster_.submit(late_.begin()->second);
        late_.erase(late_.begin());
      }
    }
    for (const FakeFault& fault : due) happen(fault);
    std::this_thread::sleep_for(milliseconds(5));
  }
}

void FakeSlurmrestd::happen(const FakeFault& fault) {
  {
    const std::scoped_lock lock(mutex_);
    log_.push_back("! " + fault.text);
  }
  if (fault.what == Mishap::kForget) {
    cluster_.forget_jobs_of_the_last(milliseconds(fault.number));
  }
  if (fault.what == Mishap::kRequeue) cluster_.requeue_youngest();
  if (fault.what == Mishap::kKillNode) cluster_.kill_node_of_youngest();
  if (fault.what == Mishap::kClock) shift_ += fault.number;
  if (fault.what == Mishap::kPurge) cluster_.purge();
}

void FakeSlurmrestd::sleep(milliseconds time) const {
  const auto end = steady_clock::now() + time;
  while (!stopping_ && steady_clock::now() < end) {
    std::this_thread::sleep_for(std::min(time, milliseconds(5)));
  }
}

FakeHttpReply FakeSlurmrestd::handle(const FakeHttpRequest& request) {
  if (request.path.starts_with("/fake/")) return control(request);
  Call call(request);
  {
    const std::scoped_lock lock(mutex_);
    ++in_progress_;
    call.faults = faults_.meet(call.kind, since_start());
    ++requests_[call.pattern()];
    ++asked_[call.kind];
  }
  for (const FakeFault& fault : call.faults) {
    if (is_of_the_cluster(fault.what)) happen(fault);
  }
  const FakeHttpReply reply = answer(call);
  std::string line = request.method + " " + request.path + " -> " +
                     std::to_string(reply.hang_up ? 0 : reply.status);
  for (const FakeFault& fault : call.faults) line += " [" + fault.text + "]";
  const std::scoped_lock lock(mutex_);
  --in_progress_;
  log_.push_back(line);
  return reply;
}

FakeHttpReply FakeSlurmrestd::control(const FakeHttpRequest& request) {
  if (request.method == "POST" && request.path == "/fake/faults") {
    try {
      set_faults(request.body);
      return {};
    } catch (const std::invalid_argument& error) {
      return {.status = 400, .body = error.what(), .content_type = "text/plain"};
    }
  }
  if (request.path == "/fake/requests") return {.body = json(requests()).dump() + "\n"};
  std::string lines;
  for (const std::string& line : log()) lines += line + "\n";
  return {.body = lines, .content_type = "text/plain"};
}

std::optional<FakeHttpReply> FakeSlurmrestd::refuse_caller(const Call& call) const {
  const bool local = !options_.unix_path.empty() && options_.token_file.empty();
  if (local) return std::nullopt;
  const bool nameless = options_.release == "22.05" && call.request.user.empty();
  if (call.request.token.empty() || nameless) {
    return to_reply(answers_.as_recorded("no_auth", call.version));
  }
  const bool good =
      options_.token_file.empty() || call.request.token == trimmed_file(options_.token_file);
  if (good && !call.meets(Mishap::kUnauthorized)) return std::nullopt;
  return to_reply(bad_token(call));
}

// What goes wrong before anything is done, what is done, what goes wrong with the answer.
FakeHttpReply FakeSlurmrestd::answer(Call& call) {
  if (const FakeFault* fault = find(call.faults, Mishap::kDelay))
    sleep(milliseconds(fault->number));
  if (call.meets(Mishap::kLoseRequest)) return {.hang_up = true};
  if (const FakeFault* fault = find(call.faults, Mishap::kStatus)) {
    return {.status = static_cast<int>(fault->number)};
  }
  if (call.service == "openapi") {
    const auto refused = refuse_caller(call);
    return refused ? *refused : to_reply(answers_.openapi(options_.accounting));
  }
  const auto& versions = answers_.versions();
  const bool offered =
      call.service == "slurm" || (call.service == "slurmdb" && options_.accounting);
  if (!offered || std::find(versions.begin(), versions.end(), call.version) == versions.end()) {
    return to_reply(answers_.as_recorded("unknown_version", call.version));
  }
  if (const auto refused = refuse_caller(call)) return *refused;
  FakeHttpReply reply = perform(call);
  if (call.meets(Mishap::kDropAnswer)) reply.hang_up = true;
  if (const FakeFault* fault = find(call.faults, Mishap::kStatusAfter)) {
    reply = {.status = static_cast<int>(fault->number)};
  }
  if (call.meets(Mishap::kCut)) reply.body.resize(reply.body.size() / 2);
  return reply;
}

FakeHttpReply FakeSlurmrestd::perform(Call& call) {
  if (call.meets(Mishap::kControllerDown)) return to_reply(without_controller(call));
  if (const FakeFault* fault = find(call.faults, Mishap::kHung);
      fault && call.kind != Asked::kSubmit) {
    sleep(milliseconds(fault->number));
    return to_reply(hung(call));
  }
  if (call.service == "slurmdb") return to_reply(route_accounting(call));
  const FakeAnswer answer = route(call);
  return answer.status == 0 ? FakeHttpReply{.hang_up = true} : to_reply(answer);
}

FakeAnswer FakeSlurmrestd::route(Call& call) {
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

FakeAnswer FakeSlurmrestd::route_accounting(const Call& call) {
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

FakeAnswer FakeSlurmrestd::submit(Call& call) {
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
  if (const FakeFault* fault = find(call.faults, Mishap::kHung)) {
    sleep(milliseconds(fault->number));
    const std::scoped_lock lock(mutex_);
    late_.emplace(steady_clock::now() + milliseconds(fault->late), submission.request);
    return hung(call);
  }
  return answers_.submitted(call.version, cluster_.submit(submission.request), submission);
}

FakeAnswer FakeSlurmrestd::list(const Call& call) {
  std::vector<FakeJob> jobs = cluster_.jobs();
  if (const FakeFault* fault = find(call.faults, Mishap::kRowsMissing)) {
    jobs.resize(jobs.size() - std::min<size_t>(jobs.size(), static_cast<size_t>(fault->number)));
  }
  if (call.meets(Mishap::kUnknownState)) {
    for (FakeJob& job : jobs) job.state = "WARPING";
  }
  return answers_.jobs(call.version, jobs, shift_);
}

FakeAnswer FakeSlurmrestd::get(const Call& call) {
  if (!is_number(call.id)) return answers_.about_job("job_bad_id", call.version, call.id);
  auto job = cluster_.job(std::stoll(call.id));
  if (!job) return answers_.about_job("job_unknown", call.version, call.id);
  if (call.meets(Mishap::kUnknownState)) job->state = "WARPING";
  return answers_.jobs(call.version, {*job}, shift_);
}

FakeAnswer FakeSlurmrestd::update(const Call& call) {
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

FakeAnswer FakeSlurmrestd::remove(const Call& call) {
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

FakeAnswer FakeSlurmrestd::bad_token(const Call& call) const {
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

FakeAnswer FakeSlurmrestd::without_controller(const Call& call) const {
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

FakeAnswer FakeSlurmrestd::hung(const Call& call) const {
  if (call.kind == Asked::kSubmit) return answers_.as_recorded("hung_submit", call.version);
  if (options_.release != "22.05") return answers_.as_recorded("hung_jobs", call.version);
  json body = answers_.recorded("token_jobs").answer;
  body["errors"][0]["error_number"] = 5004;
  body["errors"][0]["error"] = "Socket timed out on send/recv operation";
  return {.status = 500, .body = body.dump()};
}

}  // namespace tests
