// Implements service.h: what is read of items, their logs, results and scripts.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/nearest_name.h"
#include "base/text.h"
#include "base/untrusted_file.h"
#include "db/attempts.h"
#include "db/audit.h"
#include "db/items.h"
#include "db/results.h"
#include "db/templates.h"
#include "scheduler/api/history_json.h"
#include "scheduler/api/job_files.h"
#include "scheduler/api/peaks.h"
#include "scheduler/api/plan_json.h"
#include "scheduler/api/records_json.h"
#include "scheduler/api/request_values.h"
#include "scheduler/api/service.h"
#include "scheduler/api/submission.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

using nlohmann::json;

constexpr int64_t kMostListed = 1000;
constexpr const char* kListBegin = "{\"format\":1,\"next\":";
constexpr size_t kLongestPeakList = size_t{8} << 20;  // bytes
constexpr size_t kMostPeaks = 50'000;

std::string nearest_state(const std::string& word) {
  std::vector<std::string> known;
  for (const db::ItemState state : db::item_states()) known.push_back(db::to_string(state));
  return base::names_to_use(base::upper(word), known);
}

// Of "name" those of all versions.
std::vector<int64_t> template_ids(db::Database& database, const std::string& word) {
  const TemplateName name = template_name_of(word);
  const db::TemplateStore templates(database);
  std::vector<int64_t> ids;
  if (!name.version) {
    ids = templates.ids_of(name.name);
  } else if (const auto found = templates.find_version(name.name, *name.version)) {
    ids.push_back(found->id);
  }
  if (ids.empty()) throw NotFound("no template '" + word + "'; 'margay template list' shows them");
  return ids;
}

// Which of all items, page by page.
void set_pages(const Request& request, db::ItemQuery& query) {
  query.limit = kMostListed;
  query.newest = parameter(request, "newest") == "1";
  if (const std::string after = parameter(request, "after"); !after.empty()) {
    query.after_id = integer(after, "after");
  }
  if (const std::string from = parameter(request, "from"); !from.empty()) {
    query.after_id = std::max(query.after_id, integer(from, "from") - 1);
  }
  if (const std::string last = parameter(request, "up_to"); !last.empty()) {
    query.up_to_id = integer(last, "up_to");
  }
  if (const std::string limit = parameter(request, "limit"); !limit.empty()) {
    query.limit = std::clamp<int64_t>(integer(limit, "limit"), 1, kMostListed);
  }
}

db::ItemQuery item_query(db::Database& database, const Request& request) {
  db::ItemQuery query;
  for (const std::string& word : words_of(parameter(request, "state"), ',')) {
    const auto state = db::parse<db::ItemState>(base::upper(word));
    if (!state) throw BadOption("unknown state '" + word + "'" + nearest_state(word));
    query.states.push_back(*state);
  }
  for (const std::string& word : words_of(parameter(request, "priority"), ',')) {
    const auto priority = db::parse<db::Priority>(word);
    if (!priority) {
      throw BadOption("unknown priority '" + word + "'; use low, normal, high or urgent");
    }
    query.priorities.push_back(*priority);
  }
  for (const std::string& word : words_of(parameter(request, "ids"), ',')) {
    query.ids.push_back(integer(word, "item"));
  }
  query.label = parameter(request, "label");
  query.owner = parameter(request, "owner");
  query.micrograph = parameter(request, "micrograph");
  query.file_name = parameter(request, "file_name");
  if (const std::string uid = parameter(request, "owner_uid"); !uid.empty()) {
    query.owner_uid = integer(uid, "owner_uid");
  }
  if (const std::string word = parameter(request, "template"); !word.empty()) {
    query.template_ids = template_ids(database, word);
  }
  set_pages(request, query);
  return query;
}

}  // namespace

json Service::progress_of_newest(int64_t item) const {
  json entry = {{"progress", nullptr}};
  try {
    const auto attempt = db::AttemptStore(database_).newest_of_item(item);
    if (attempt) put_progress(*attempt, entry);
  } catch (const db::UnreadableRow& error) {
    put_text(entry, "progress_problem", error.what());
  }
  return entry;
}

// Written entry by entry, since a page of parsed JSON takes many times the memory of its text.
std::string Service::list(const Request& request) const {
  const bool explain = parameter(request, "explain") == "1";
  const bool progress = parameter(request, "progress") == "1";
  const bool brief = parameter(request, "brief") == "1";
  const db::ItemQuery query = item_query(database_, request);
  const std::vector<db::Item> items = db::ItemStore(database_).list(query);
  const bool is_full =
      !query.newest && !items.empty() && static_cast<int64_t>(items.size()) == query.limit;
  const auto late = commands_.late(items);
  const auto expected = commands_.expected(items);
  const auto explanations = explain ? commands_.explain(items) : std::vector<std::string>();
  std::map<int64_t, std::string> names;
  // At the front, so that who reads on can ask for the next page before it parses this one.
  const int64_t next = is_full ? items.back().id : 0;
  std::string text = kListBegin + std::to_string(next) + ",\"items\":[";
  for (size_t i = 0; i < items.size(); ++i) {
    const db::Item& item = items[i];
    std::string& name = names[item.template_id];
    if (name.empty()) name = template_name(item.template_id);
    if (i > 0) text += ',';
    JsonLine entry(text);
    put_brief(item, name, entry);
    if (!brief) put_details(item, entry);
    if (explain) entry.put_bytes("explanation", explanations[i]);
    put_late(late[i], entry);
    put_expected(expected[i], entry);
    if (progress && item.state == db::ItemState::kActive) {
      const json running = progress_of_newest(item.id);
      for (const auto& [key, value] : running.items()) entry.put(key.c_str(), value);
    }
    if (item.state == db::ItemState::kDone) {
      const auto result = db::ResultStore(database_).find(item.id);
      entry.put("result", result ? result_json(*result) : json(nullptr));
    }
    entry.end();
  }
  return text + "]}";
}

json Service::history(const Request& request) const {
  HistoryQuery query{.since = integer(parameter(request, "since"), "since"), .most = kMostListed};
  if (const std::string after = parameter(request, "after"); !after.empty()) {
    query.after = integer(after, "after");
  }
  if (const std::string limit = parameter(request, "limit"); !limit.empty()) {
    query.most = std::clamp<int64_t>(integer(limit, "limit"), 1, kMostListed);
  }
  return history_json(hooks_.history(query));
}

json Service::show(const Request& request, int64_t item) const {
  const ItemView view = commands_.show(item);
  json entry = view_json(view);
  const bool running = view.item.state == db::ItemState::kActive && !view.attempts.empty();
  entry["progress"] = nullptr;
  if (running) put_progress(view.attempts.back(), entry);
  entry["history"] = json::array();
  for (const db::AuditEntry& line : db::AuditStore(database_).of_item(item)) {
    json event = {{"time", line.time}, {"uid", line.uid}, {"action", line.action}};
    put_text(event, "who", line.who);
    put_text(event, "detail", line.detail);
    entry["history"].push_back(std::move(event));
  }
  if (parameter(request, "forecast") == "1") {
    entry["forecast"] = forecast_json(commands_.forecast(item));
  }
  return {{"item", entry}};
}

json Service::log(const Request& request, int64_t item) const {
  const std::vector<db::Attempt> attempts = db::AttemptStore(database_).of_item(item);
  if (attempts.empty()) {
    throw NotFound("item " + std::to_string(item) +
                   " has no log yet: " + commands_.show(item).explanation);
  }
  const db::Attempt* attempt = &attempts.back();
  if (const std::string number = parameter(request, "attempt"); !number.empty()) {
    const int64_t wanted = integer(number, "attempt");
    const auto found =
        std::find_if(attempts.begin(), attempts.end(),
                     [wanted](const db::Attempt& other) { return other.number == wanted; });
    if (found == attempts.end()) {
      throw NotFound("item " + std::to_string(item) + " has no attempt " + number +
                     "; its newest is " + std::to_string(attempts.back().number));
    }
    attempt = &*found;
  }
  const std::string offset = parameter(request, "offset");
  json piece = log_piece(*attempt, offset.empty() ? 0 : integer(offset, "offset"));
  piece["item"] = item;
  piece["attempt"] = attempt->number;
  piece["ended"] = attempt->ended != 0;
  piece["state"] = db::to_string(attempt->state);
  return piece;
}

json Service::results(const Request& request, int64_t item) const {
  const ItemView view = commands_.show(item);
  if (!view.result) {
    throw NotFound("item " + std::to_string(item) + " has no result: it is " +
                   db::to_string(view.item.state) + "; " + view.explanation);
  }
  json result = result_json(*view.result);
  result.update(result_files(*view.result));
  result["item"] = item_json(view.item, versioned_name(view.search_template));
  result["peak_list"] = json::array();
  const std::string& list = view.result->peaks_csv;
  const std::filesystem::path path = list;
  const auto csv = base::read_untrusted_in(path.parent_path(), path.filename(), kLongestPeakList);
  if (!csv) throw std::runtime_error(list + ": No such file or directory");
  const std::vector<PeakRow> peaks = read_peaks(*csv, list);
  if (peaks.size() > kMostPeaks) {
    throw std::runtime_error(list + " has " + std::to_string(peaks.size()) + " peaks, more than " +
                             std::to_string(kMostPeaks) + "; read the file itself");
  }
  for (const PeakRow& peak : peaks) result["peak_list"].push_back(peak_json(peak));
  if (parameter(request, "csv") == "1") put_text(result, "csv", *csv);
  json answer;
  answer["result"] = std::move(result);
  return answer;
}

json Service::script(const Request& request, int64_t item) const {
  ScriptRequest wanted{.item = item, .test_only = parameter(request, "test_only") == "1"};
  if (const std::string word = parameter(request, "shape"); !word.empty()) {
    wanted.shape = base::value_of(kShapes, word);
    if (!wanted.shape)
      throw Invalid("unknown shape '" + word + "'; use " + base::alternatives(kShapes));
  }
  const RenderedScript script = hooks_.script(wanted);
  json answer = {{"item", item},
                 {"attempt", script.attempt},
                 {"token", script.token},
                 {"submitted", script.submitted},
                 {"planned", script.planned}};
  put_text(answer, "script", script.text);
  if (wanted.test_only) put_text(answer, "test_only", script.test_only);
  return answer;
}

}  // namespace scheduler::api
