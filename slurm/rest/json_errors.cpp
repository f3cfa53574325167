// Implements json.h: what an answer proves. Slurm's error numbers are in three fields, and a
// failure may come under HTTP 200.
#include <utility>

#include "slurm/refusals.h"
#include "slurm/rest/json.h"
#include "slurm/rest/json_values.h"

namespace slurm {
namespace {

constexpr int kHeld = 2042;          // beside an id: not an error at all
constexpr int kNothingFound = 9003;  // accounting's way of an empty answer
constexpr int kNoSuchJob = 2017;
constexpr int kUnspecified = -1;

// 22.05 answers -1 for a bad token within milliseconds, and for a lost controller after 9 s.
constexpr double kQuickSeconds = 4;

struct ErrorItem {
  std::optional<int64_t> code{};
  std::string text{};  // Slurm's own sentence
  std::string description{};
};

// Slurm repeats a refused value after " got ", and a value may be secret or long.
std::string without_values(const std::string& text) {
  const size_t got = text.find(" got ");
  const size_t but = text.find(" but got ");
  return text.substr(0, std::min({got, but, size_t{300}}));
}

ErrorItem error_of(const Json& item) {
  ErrorItem error;
  for (const char* key : {"error_number", "error_code", "errno", "code"}) {
    if (!error.code) error.code = number_of(member(item, key));
  }
  for (const char* key : {"error", "string", "message"}) {
    if (error.text.empty()) error.text = without_values(text_of(member(item, key)));
  }
  error.description = without_values(text_of(member(item, "description")));
  return error;
}

// From "errors", and from "status" (DELETE) and "results" (updates), which have them one level
// down.
std::vector<ErrorItem> errors_of(const Json& document) {
  std::vector<ErrorItem> errors;
  for (const Json* item : objects_of(member(document, "errors"))) {
    errors.push_back(error_of(*item));
  }
  for (const Json* item : objects_of(member(document, "status"))) {
    errors.push_back(error_of(member(*item, "error")));
  }
  for (const Json* item : objects_of(member(document, "results"))) {
    errors.push_back(error_of(*item));
  }
  const ErrorItem result = error_of(member(document, "result"));
  if (result.code.value_or(0) != 0) errors.push_back(result);
  return errors;
}

std::string sentence_of(const ErrorItem& error) {
  if (error.text.empty() || error.description.empty() || error.text == error.description) {
    return error.text + error.description;
  }
  return error.description + ": " + error.text;
}

std::string sentences_of(const std::vector<ErrorItem>& errors) {
  std::string all;
  for (const ErrorItem& error : errors) {
    const std::string sentence = sentence_of(error);
    if (sentence.empty() || all.find(sentence) != std::string::npos) continue;
    all += (all.empty() ? "" : "; ") + sentence;
    if (error.code) all += " (" + std::to_string(*error.code) + ")";
  }
  return all;
}

std::string http(const RestAnswer& answer) { return "HTTP " + std::to_string(answer.status); }

const char* const kTokenSentence =
    "the token is not accepted: it is expired, of another user or signed with another key";

// --- submissions -------------------------------------------------------------------------------

int64_t job_id_of(const Json& document) {
  const int64_t id = number_of(member(document, "job_id")).value_or(0);
  return id > 0 ? id : number_of(member(document, {"result", "job_id"})).value_or(0);
}

bool speaks_of_hold(const std::string& text) {
  return text.find("Job is in held state") != std::string::npos;
}

// A sentence without a number may be a fault too.
bool may_be_fault(const ErrorItem& error) {
  const int64_t code = error.code.value_or(-1);
  return code != 0 && code != kHeld;
}

std::vector<std::string> warnings_of(const Json& document) {
  std::vector<std::string> warnings;
  for (const ErrorItem& error : errors_of(document)) {
    const std::string sentence = sentence_of(error);
    if (may_be_fault(error) && !sentence.empty()) warnings.push_back(sentence);
  }
  for (const Json* item : objects_of(member(document, "warnings"))) {
    const std::string text = without_values(text_of(member(*item, "description")));
    const std::string source = text_of(member(*item, "source"));
    if (text.empty() || speaks_of_hold(text)) continue;
    warnings.push_back(source.empty() ? text : text + " (" + source + ")");
  }
  const std::string site = text_of(member(document, "job_submit_user_msg"));
  if (!site.empty()) warnings.push_back(site);
  return warnings;
}

// slurmrestd's own messages for a request that it did not pass on to slurmctld.
bool was_not_passed_on(const RestAnswer& answer) {
  return answer.status >= 400 && answer.status < 500 &&
         (answer.body.starts_with("Unable to parse query") ||
          answer.body.starts_with("Unable find requested URL"));
}

bool refuses_token(const RestAnswer& answer) {
  return answer.status == 401 || answer.status == 511;
}

SubmitResult refused_token() {
  return SubmitResult::rejected(Refusal::kConfiguration, std::string(kTokenSentence) + " (token)");
}

SubmitResult classify_without_id(const RestAnswer& answer, const Json& document) {
  const std::vector<ErrorItem> errors = errors_of(document);
  const std::string text = sentences_of(errors);
  for (const ErrorItem& error : errors) {
    const Refusal refusal = refusal_of_code(error.code.value_or(0));
    if (refusal == Refusal::kNone) continue;
    if (error.code == kBadAuthentication) return refused_token();
    const std::string site = text_of(member(document, "job_submit_user_msg"));
    return SubmitResult::rejected(refusal, site.empty() ? text : text + "; " + site);
  }
  if (text.empty()) return SubmitResult::unknown("the answer (" + http(answer) + ") names no job");
  return SubmitResult::unknown(text);
}

// --- everything else ---------------------------------------------------------------------------

Problem token_problem(int code) { return {Trouble::kToken, code, kTokenSentence}; }

Problem controller_problem(int code, const std::string& text) {
  std::string message = "slurmctld does not answer slurmrestd";
  if (!text.empty()) message += ": " + text;
  return {Trouble::kController, code, message};
}

bool is_of_controller(int64_t code) {
  return (code >= 1800 && code < 1900) || (code >= 5000 && code < 6000);
}

Problem problem_of_code(ApiVersion version, const RestAnswer& answer, const ErrorItem& error,
                        const std::string& text) {
  const bool quick = answer.seconds < kQuickSeconds;
  constexpr int kNone = 0;  // also for what cannot be one of Slurm's numbers
  const int64_t number = error.code.value_or(kNone);
  const int code = std::in_range<int>(number) ? static_cast<int>(number) : kNone;
  if (code == kBadAuthentication) return token_problem(code);
  if (code == kUnspecified && version == ApiVersion::kV38 && quick) return token_problem(code);
  if (is_of_controller(code)) return controller_problem(code, error.text);
  // A lost controller shows as -1, or as 1 in a DELETE, but only after the time-out.
  if (!quick && answer.status >= 500) return controller_problem(code, "");
  if (code == kNoSuchJob || answer.status == 404) return {Trouble::kNotFound, code, text};
  if (code == kUnspecified) return {Trouble::kOther, code, text};
  return {Trouble::kRefused, code, text};
}

// slurmrestd does not report a ping without an answer as an error.
bool pings_in_vain(const Json& document) {
  const std::vector<const Json*> pings = objects_of(member(document, "pings"));
  for (const Json* ping : pings) {
    const std::string now = text_of(member(*ping, "ping"));
    const std::string later = text_of(member(*ping, "pinged"));
    const bool responding = member(*ping, "responding") == true;
    if (responding || now.starts_with("UP") || later.starts_with("UP")) return false;
  }
  return !pings.empty();
}

Problem problem_without_json(const RestAnswer& answer) {
  if (answer.status == 404) {
    return {Trouble::kNotFound, 0, "slurmrestd has no such address: another version of the API?"};
  }
  if (answer.status == 502 || answer.status == 504) {
    return controller_problem(0, http(answer));
  }
  if (answer.status >= 400 && answer.status < 500) {
    return {Trouble::kRefused, 0, "slurmrestd refuses the request with " + http(answer)};
  }
  return {Trouble::kOther, 0, "the answer (" + http(answer) + ") is cut or no JSON"};
}

}  // namespace

SubmitResult classify_submit(const RestAnswer& answer) {
  const Json document = parse_json(answer.body);
  const int64_t id = job_id_of(document);
  if (id > 0) {
    SubmitResult result;
    result.outcome = SubmitOutcome::kAccepted;
    result.job_id = std::to_string(id);
    result.warnings = warnings_of(document);
    return result;
  }
  if (refuses_token(answer)) return refused_token();
  if (document.is_object()) return classify_without_id(answer, document);
  if (was_not_passed_on(answer)) {
    return SubmitResult::rejected(
        Refusal::kConfiguration,
        "slurmrestd does not understand the request (" + http(answer) + ")");
  }
  return SubmitResult::unknown("the answer (" + http(answer) + ") is cut or no JSON");
}

Problem problem_of(ApiVersion version, const RestAnswer& answer) {
  if (refuses_token(answer)) return token_problem(0);
  const Json document = parse_json(answer.body);
  if (!document.is_object()) return problem_without_json(answer);
  const std::vector<ErrorItem> errors = errors_of(document);
  const std::string text = sentences_of(errors);
  for (const ErrorItem& error : errors) {
    // A successful update of an array carries an item without a number.
    if (error.code.value_or(0) == 0 || error.code == kNothingFound) continue;
    return problem_of_code(version, answer, error, text);
  }
  if (pings_in_vain(document)) return controller_problem(0, "its ping finds nobody");
  if (answer.status >= 200 && answer.status < 300) return {};
  if (answer.status == 404) return {Trouble::kNotFound, 0, text};
  if (answer.status == 502 || answer.status == 504) return controller_problem(0, text);
  if (answer.status >= 400 && answer.status < 500) return {Trouble::kRefused, 0, text};
  return {Trouble::kOther, 0, "slurmrestd answers " + http(answer) + " " + text};
}

}  // namespace slurm
