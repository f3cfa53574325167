#include "slurm/rest/rest_session.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "slurm/site_facts.h"

namespace slurm {
namespace {

constexpr const char* kOpenApi = "/openapi/v3";
// After a failure that takes longer, requests pause: each would take as long again.
constexpr int64_t kSlowMs = 2'000;

// The names that the server gives its versions, from the paths of its document.
Names version_words(std::string openapi) {
  std::erase(openapi, '\\');  // JSON may write a slash as "\/"
  constexpr std::string_view kRoot = "/slurm/v";
  Names words;
  for (size_t at = openapi.find(kRoot); at != openapi.npos; at = openapi.find(kRoot, at + 1)) {
    const size_t begin = at + kRoot.size() - 1;
    const size_t end = openapi.find_first_not_of("v.0123456789", begin);
    words.insert(openapi.substr(begin, end - begin));
  }
  return words;
}

}  // namespace

std::string date_of(int64_t seconds) {
  const auto time = static_cast<time_t>(seconds);
  struct tm parts {};
  char text[64] = {};
  if (gmtime_r(&time, &parts) == nullptr) return "an unknown date";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

RestSession::RestSession(RestClusterOptions options)
    : options_(std::move(options)),
      http_(options_.http),
      budget_(options_.requests_per_minute, options_.steady_ms()),
      reserve_(std::min(2, budget_.left(options_.steady_ms()) - 1)) {
  if (!options_.token_file.empty()) token_file_.emplace(options_.token_file);
}

std::string RestSession::user() const {
  return options_.user.empty() ? token_user_ : options_.user;
}

int RestSession::allowance() { return std::max(0, budget_.left(steady_ms()) - reserve_); }

int RestSession::requests_in_last_minute() const {
  const int64_t since = steady_ms() - kMinuteMs;
  return static_cast<int>(
      std::count_if(sent_ms_.begin(), sent_ms_.end(), [&](int64_t at) { return at > since; }));
}

// nullopt: `why` is what is wrong with it. Empty: no token is used.
std::optional<std::string> RestSession::current_token(std::string& why) {
  if (!token_file_) return "";
  try {
    const std::string& token = token_file_->token();
    const auto facts = read_token_facts(token);
    token_user_ = facts ? facts->user : "";
    if (facts && facts->expires && *facts->expires <= now()) {
      why = "the token in " + token_file_->path() + " expired on " + date_of(*facts->expires) +
            ": put a new one there (scontrol token)";
      return std::nullopt;
    }
    return token;
  } catch (const std::exception& error) {
    why = error.what();
    return std::nullopt;
  }
}

// Takes the token out of an answer that repeats it.
std::string RestSession::hidden(std::string text) const {
  if (token_.empty()) return text;
  for (size_t at = text.find(token_); at != text.npos; at = text.find(token_, at)) {
    text.replace(at, token_.size(), "(token)");
  }
  return text;
}

// Why a request cannot be sent now. nullopt: it can, with `token_`.
std::optional<RestReply> RestSession::hindrance(Purpose purpose) {
  RestReply reply;
  const auto token = current_token(reply.why);
  if (!token) return reply;
  const int64_t now_ms = steady_ms();
  if (purpose == Purpose::kOther && now_ms < held_until_ms_) {
    reply.why = held_why_ + " (not asked again for the moment)";
    return reply;
  }
  if ((purpose != Purpose::kListing && allowance() < 1) || !budget_.take(now_ms)) {
    reply.ending = RestReply::Ending::kNoBudget;
    reply.why = "the " + std::to_string(options_.requests_per_minute) +
                " requests a minute of slurm.requests_per_minute are used up for the moment";
    return reply;
  }
  while (!sent_ms_.empty() && sent_ms_.front() <= now_ms - kMinuteMs) sent_ms_.pop_front();
  sent_ms_.push_back(now_ms);
  token_ = *token;
  return std::nullopt;
}

RestReply RestSession::send(HttpRequest request, const Sink& sink) {
  request.headers["Accept"] = "application/json";
  if (!token_.empty()) request.headers["X-SLURM-USER-TOKEN"] = token_;
  if (!user().empty()) request.headers["X-SLURM-USER-NAME"] = user();
  if (!request.body.empty()) request.headers["Content-Type"] = "application/json";
  const HttpAnswer answer = http_.ask(request, sink);
  RestReply reply{
      .answer = {.status = answer.status, .body = hidden(answer.body), .seconds = answer.seconds},
      .date = answer.date};
  switch (answer.ending) {
    case HttpAnswer::Ending::kAnswered:
      reply.ending = RestReply::Ending::kAnswered;
      break;
    case HttpAnswer::Ending::kNotSent:
      reply.ending = RestReply::Ending::kNotSent;
      reply.why = "slurmrestd cannot be reached at " + options_.http.url + ": " + answer.problem;
      break;
    case HttpAnswer::Ending::kLost:
      reply.ending = RestReply::Ending::kLost;
      reply.why = "slurmrestd at " + options_.http.url + " did not answer: " + answer.problem;
      break;
  }
  return reply;
}

// A failure that took long pauses all requests but the listing, or each of a round's requests would
// wait for as long again.
RestReply RestSession::ask_once(const HttpRequest& request, Purpose purpose, const Sink& sink) {
  if (auto hindered = hindrance(purpose)) return *std::move(hindered);
  const int64_t began = steady_ms();
  RestReply reply = send(request, sink);
  const int64_t took = steady_ms() - began;
  const bool failed = reply.ending != RestReply::Ending::kAnswered || reply.answer.status >= 500;
  held_until_ms_ = 0;
  if (failed && took >= kSlowMs) {
    held_until_ms_ = steady_ms() + std::max(took, int64_t{options_.poll.count()});
    held_why_ = reply.why.empty() ? "slurmctld does not answer slurmrestd in time" : reply.why;
  }
  return reply;
}

std::string RestSession::sentence_of(const Problem& problem) const {
  if (problem.trouble != Trouble::kToken) return problem.message;
  return problem.message +
         (token_file_ ? "; put a new one into " + token_file_->path() + " (scontrol token)"
                      : "; set slurm.token_file");
}

std::string RestSession::fault_of_listing(ApiVersion version, const RestReply& reply,
                                          const JobListing& listing) const {
  if (!reply.why.empty()) return reply.why;
  const RestAnswer rest{
      .status = reply.answer.status, .body = listing.rest(), .seconds = reply.answer.seconds};
  const Problem problem = problem_of(version, rest);
  if (problem.trouble != Trouble::kNone) return hidden(sentence_of(problem));
  if (reply.answer.status == 200 && listing.whole()) return "";
  return "slurmrestd at " + options_.http.url + " sent a listing of jobs that is not whole";
}

// Whether the file has another token than the one that the server has just refused.
bool RestSession::has_other_token() {
  if (!token_file_) return false;
  const std::string before = token_;
  token_file_->distrust();
  std::string ignored;  // the next request reports it
  const auto token = current_token(ignored);
  return token && *token != before;
}

RestReply RestSession::ask(const HttpRequest& request, Purpose purpose, const Sink& sink) {
  const auto judged = [&] {
    RestReply reply = ask_once(request, purpose, sink);
    if (reply.ending != RestReply::Ending::kAnswered) return reply;
    // What went to the sink is judged by its reader.
    if (reply.answer.status == 200 && sink) return reply;
    reply.problem = problem_of(version_.value_or(api_versions().back()), reply.answer);
    reply.why = sentence_of(reply.problem);
    return reply;
  };
  RestReply reply = judged();
  if (reply.problem.trouble == Trouble::kToken && has_other_token() && request.method == "GET") {
    reply = judged();
  }
  // The path is unknown, not the job: this is another slurmrestd than before.
  if (reply.problem.trouble == Trouble::kNotFound && reply.problem.code == 0 &&
      request.path.starts_with("/slurm/")) {
    version_.reset();
  }
  return reply;
}

RestReply RestSession::get(const std::string& path, Purpose purpose, const Sink& sink) {
  return ask({.method = "GET", .path = path, .headers = {}}, purpose, sink);
}

RestReply RestSession::change(const std::string& method, const std::string& path,
                              const std::string& body) {
  return ask({.method = method, .path = path, .headers = {}, .body = body}, Purpose::kOther, {});
}

RestReply RestSession::submit(ApiVersion version, const std::string& body) {
  const HttpRequest request{
      .method = "POST", .path = submit_path(version), .headers = {}, .body = body};
  RestReply reply = ask_once(request, Purpose::kOther, {});
  const auto refused = [&] {
    return reply.ending == RestReply::Ending::kAnswered &&
           (reply.answer.status == 401 || reply.answer.status == 511) &&
           classify_submit(reply.answer).outcome == SubmitOutcome::kRejected;
  };
  if (refused() && has_other_token()) reply = ask_once(request, Purpose::kOther, {});
  return reply;
}

// Chooses the newest version that both sides know, or the one that the site has set.
void RestSession::choose(const std::string& openapi) {
  offered_ = offered_versions(openapi);
  for (const ApiVersion version : api_versions()) {
    const bool wanted = options_.api_version.empty() || options_.api_version == word_of(version);
    if (!wanted || offered_.count(version) == 0) continue;
    version_ = version;
    return;
  }
  const std::string wanted =
      options_.api_version.empty()
          ? "offers no API version that Margay knows (" + known_api_versions() + ")"
          : "does not offer the slurm.api_version " + options_.api_version;
  version_failure_ = {.why = "slurmrestd at " + options_.http.url + " " + wanted + "; it offers " +
                             list_of(version_words(openapi))};
}

std::optional<ApiVersion> RestSession::version(Purpose purpose) {
  if (version_) return version_;
  if (!options_.api_version.empty() && !parse_api_version(options_.api_version)) {
    version_failure_ = {.why = "slurm.api_version is " + options_.api_version +
                               ", which Margay does not know: write one of " +
                               known_api_versions()};
    return std::nullopt;
  }
  RestReply reply = get(kOpenApi, purpose);
  if (reply.ok()) {
    choose(reply.answer.body);
  } else {
    version_failure_ = std::move(reply);
  }
  return version_;
}

bool RestSession::uses_accounting() const {
  if (options_.accounting != Accounting::kAuto) return options_.accounting == Accounting::kOn;
  if (!version_) return false;
  const auto offered = offered_.find(*version_);
  return offered != offered_.end() && offered->second;
}

void RestSession::note_release(const std::string& release) {
  if (release.empty() || release == release_) return;
  if (!release_.empty()) version_.reset();
  release_ = release;
}

}  // namespace slurm
