#include "tests/fakes/fake_slurmrestd.h"

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

}  // namespace

std::string fake_token(const std::string& user, int64_t expires, int serial) {
  const json header = {{"alg", "HS256"}, {"typ", "JWT"}};
  const json payload = {{"exp", expires}, {"iat", expires - 1800}, {"sun", user}};
  return base64url(header.dump()) + "." + base64url(payload.dump()) + "." +
         base64url("signature " + std::to_string(serial));
}

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
  FakeCall call(request);
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

std::optional<FakeHttpReply> FakeSlurmrestd::refuse_caller(const FakeCall& call) const {
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
FakeHttpReply FakeSlurmrestd::answer(FakeCall& call) {
  if (const FakeFault* fault = call.fault_of(Mishap::kDelay)) sleep(milliseconds(fault->number));
  if (call.meets(Mishap::kLoseRequest)) return {.hang_up = true};
  if (const FakeFault* fault = call.fault_of(Mishap::kStatus)) {
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
  if (const FakeFault* fault = call.fault_of(Mishap::kStatusAfter)) {
    reply = {.status = static_cast<int>(fault->number)};
  }
  if (call.meets(Mishap::kCut)) reply.body.resize(reply.body.size() / 2);
  return reply;
}

FakeHttpReply FakeSlurmrestd::perform(FakeCall& call) {
  if (call.meets(Mishap::kControllerDown)) return to_reply(without_controller(call));
  if (const FakeFault* fault = call.fault_of(Mishap::kHung); fault && call.kind != Asked::kSubmit) {
    sleep(milliseconds(fault->number));
    return to_reply(hung(call));
  }
  if (call.service == "slurmdb") return to_reply(route_accounting(call));
  const FakeAnswer answer = route(call);
  return answer.status == 0 ? FakeHttpReply{.hang_up = true} : to_reply(answer);
}

}  // namespace tests
