#include "scheduler/api/service.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/nearest_name.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "base/untrusted_file.h"
#include "db/attempts.h"
#include "db/audit.h"
#include "db/items.h"
#include "db/results.h"
#include "db/templates.h"
#include "scheduler/api/callers.h"
#include "scheduler/api/job_files.h"
#include "scheduler/api/json_text.h"
#include "scheduler/api/peaks.h"
#include "scheduler/api/records_json.h"
#include "scheduler/api/submission.h"

namespace scheduler::api {
namespace {

using nlohmann::json;

constexpr int64_t kMostListed = 1000;
constexpr const char* kListBegin = "{\"format\":1,\"next\":";
constexpr size_t kLongestPeakList = size_t{8} << 20;  // bytes
constexpr size_t kMostPeaks = 50'000;

struct Refusal {
  int status = 500;
  const char* kind = "internal";
};

Refusal refusal_of(CommandFault fault) {
  switch (fault) {
    case CommandFault::kNotFound:
      return {404, "not_found"};
    case CommandFault::kNotPermitted:
      return {403, "not_permitted"};
    case CommandFault::kInvalid:
      return {400, "invalid"};
    case CommandFault::kBadOption:
      return {400, "usage"};
    case CommandFault::kConflict:
      return {409, "conflict"};
    case CommandFault::kUnavailable:
      return {503, "unavailable"};
  }
  return {};
}

json error_of(const CommandError& error) {
  return {{"error", error_json(refusal_of(error.fault()).kind, error.what(), error.item_id())}};
}

int64_t integer(const std::string& text, const std::string& what) {
  const auto value = base::parse_number<int64_t>(text);
  if (!value || *value < 0) {
    throw Invalid("invalid " + what + " '" + text + "'; expected a whole number");
  }
  return *value;
}

// The words between the separators, which may stand at the ends and doubled.
std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words = base::split(text, separator);
  std::erase(words, "");
  return words;
}

std::string parameter(const Request& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? "" : found->second;
}

std::string nearest_state(const std::string& word) {
  std::vector<std::string> known;
  for (const db::ItemState state : db::item_states()) known.push_back(db::to_string(state));
  return base::did_you_mean(base::upper(word), known) + "; use " + base::joined(known);
}

db::ItemQuery item_query(const Request& request) {
  db::ItemQuery query;
  for (const std::string& word : words_of(parameter(request, "state"), ',')) {
    const auto state = db::parse<db::ItemState>(base::upper(word));
    if (!state) throw BadOption("unknown state '" + word + "'" + nearest_state(word));
    query.states.push_back(*state);
  }
  for (const std::string& word : words_of(parameter(request, "priority"), ',')) {
    const auto priority = db::parse<db::Priority>(word);
    if (!priority)
      throw Invalid("unknown priority '" + word + "'; use low, normal, high or urgent");
    query.priorities.push_back(*priority);
  }
  for (const std::string& word : words_of(parameter(request, "ids"), ',')) {
    query.ids.push_back(integer(word, "item"));
  }
  query.label = parameter(request, "label");
  query.owner = parameter(request, "owner");
  query.limit = kMostListed;
  if (const std::string after = parameter(request, "after"); !after.empty()) {
    query.after_id = integer(after, "after");
  }
  if (const std::string limit = parameter(request, "limit"); !limit.empty()) {
    query.limit = std::min(kMostListed, integer(limit, "limit"));
  }
  return query;
}

bool is_list(const Request& request) {
  return request.method != "POST" &&
         words_of(request.path, '/') == std::vector<std::string>{"v1", "items"};
}

std::string unchecked_text(const std::string& why) {
  return "the engine has not checked the template's settings, and how long its searches take is "
         "not known: " +
         why + "; register the template again when the engine runs on the daemon's machine";
}

// Throws Invalid when the file changes while it is read.
std::string hash_of(const PassedFile& file, const FileFacts& facts, const FileWork::Sign& sign) {
  const auto hash = [&]() -> std::optional<std::string> {
    try {
      return hash_file_unless(file.descriptor.get(), facts.bytes, [&] { return !sign(file.path); });
    } catch (const base::FileError& error) {
      throw Invalid(error.what());
    }
  }();
  const FileFacts after = file_facts(file.descriptor.get());
  if (after.bytes != facts.bytes || after.ctime_ns != facts.ctime_ns) {
    throw Invalid("'" + file.path + "' changed while it was read; try again when it is complete");
  }
  return hash.value_or("");  // nobody waits for what was not read to its end
}

Response answer(json document, int status) {
  document["format"] = 1;
  return {.status = status, .body = document.dump()};
}

}  // namespace

bool takes_long(const Head& head) {
  const std::vector<std::string> path = words_of(head.path, '/');
  if (path.size() < 2) return false;
  return (head.method == "POST" && path[1] == "templates") || path.back() == "script";
}

Response Service::handle(Request& request) {
  try {
    if (is_list(request)) return {.body = list(request)};
    return answer(route(request), 200);
  } catch (const CommandError& error) {
    return answer(error_of(error), refusal_of(error.fault()).status);
  } catch (const std::exception& error) {
    spdlog::error("{} {}: {}", request.method, request.path, error.what());
    const Refusal internal;
    return answer({{"error", error_json(internal.kind, error.what(), 0)}}, internal.status);
  }
}

json Service::route(Request& request) {
  const std::vector<std::string> path = words_of(request.path, '/');
  const bool post = request.method == "POST";
  if (path.size() >= 2 && path[0] == "v1") {
    if (path.size() == 2 && path[1] == "status" && !post) return status_json(hooks_.status());
    if (path.size() == 2 && path[1] == "whoami" && !post) return whoami(request);
    if (path.size() == 2 && path[1] == "stop" && post) return stop(request);
    if (path.size() == 2 && path[1] == "pause" && post) return pause(request);
    if (path.size() == 2 && path[1] == "resume" && post) return resume(request);
    if (path.size() == 2 && path[1] == "doctor" && post) return doctor(request);
    if (path.size() == 2 && path[1] == "templates") {
      return post ? add_template(request) : templates();
    }
    if (path.size() == 2 && path[1] == "items") return enqueue(request);
    if (path[1] == "items") return route_item(request, path);
  }
  throw NotFound("unknown address: " + request.method + " " + request.path);
}

json Service::whoami(const Request& request) const {
  const Caller caller = caller_of(request.peer);
  const UrgentRight urgent = commands_.urgent_right(caller);
  json groups = json::array();
  for (const std::string& group : caller.groups()) groups.push_back(group);
  return {{"user", caller.name},           {"uid", caller.uid},    {"groups", std::move(groups)},
          {"operator", caller.privileged}, {"urgent", urgent.has}, {"urgent_allowed", urgent.who}};
}

json Service::route_item(Request& request, const std::vector<std::string>& path) {
  const int64_t item = integer(path[2], "item");
  const std::string action = path.size() == 4 ? path[3] : "";
  if (path.size() <= 4 && request.method == "POST" && !action.empty()) {
    return change(request, item, action);
  }
  if (path.size() == 3 && request.method == "GET") return show(item);
  if (action == "log") return log(request, item);
  if (action == "results") return results(item);
  if (action == "script") return script(request, item);
  throw NotFound("unknown address: " + request.method + " " + request.path);
}

json Service::change(const Request& request, int64_t item, const std::string& action) {
  const Caller caller = caller_of(request.peer);
  db::Item changed;
  if (action == "promote") {
    changed = commands_.promote(caller, item, priority_of(body_of(request)));
  } else if (action == "hold") {
    changed = commands_.hold(caller, item);
  } else if (action == "release") {
    changed = commands_.release(caller, item);
  } else if (action == "cancel") {
    changed = commands_.cancel(caller, item);
  } else if (action == "retry") {
    changed = commands_.retry(caller, item, retry_of(caller, request));
  } else {
    throw NotFound("unknown change '" + action + "'; use promote, hold, release, cancel or retry");
  }
  hooks_.wake();
  json entry = item_json(changed, template_name(changed.template_id));
  // Of the other changes the item's reason says enough.
  if (action == "promote") put_text(entry, "explanation", commands_.show(item).explanation);
  return {{"item", entry}};
}

std::string Service::template_name(int64_t id) const {
  return versioned_name(db::TemplateStore(database_).find(id).value());
}

json Service::templates() const {
  json list = json::array();
  for (const db::Template& record : db::TemplateStore(database_).list()) {
    list.push_back(template_json(record));
  }
  return {{"templates", list}};
}

// Does `work` with the file that `entry` names.
template <typename Result, typename Work>
Result Service::on_users_thread(FileWork& files, const Caller& caller, const Request& request,
                                const json& entry, Work work) {
  const auto file = std::make_shared<PassedFile>(take_passed(request, entry));
  return files.ask<Result>(caller.uid, file->path, [file, work](const FileWork::Sign& sign) {
    // Closing a file may take as long as reading it: that thread does it.
    const PassedFile own = std::move(*file);
    return work(own, sign);
  });
}

FileFacts Service::look(const Caller& caller, const Request& request, const json& entry) {
  return on_users_thread<FileFacts>(
      looks_, caller, request, entry,
      [](const PassedFile& file, const FileWork::Sign&) { return facts_of(file); });
}

// An empty body passes no micrograph, which Commands::retry() refuses.
RetryRequest Service::retry_of(const Caller& caller, const Request& request) {
  if (request.body.empty()) return {};
  const json body = body_of(request);
  RetryRequest retry = retry_request(body);
  if (body.contains("file")) retry.micrograph = look(caller, request, body);
  return retry;
}

CountAnswer Service::count(const Caller& caller, const Request& request, const json& body,
                           const TemplateRequest& wanted) {
  if (!hooks_.count) return {};
  const CountQuestion question{
      .search_yaml = wanted.search_yaml,
      .settings_name = get_text(body, "search_path").value_or("search_yaml"),
      .volume_path = wanted.volume.path,
      .volume_sha256 = wanted.volume_sha256};
  return on_users_thread<CountAnswer>(
      files_, caller, request, body,
      [question, ask = hooks_.count](const PassedFile& volume, const FileWork::Sign& sign) {
        CountQuestion with_volume = question;
        with_volume.volume = volume.descriptor.get();
        return ask(with_volume, [&] { return sign(volume.path); });
      });
}

json Service::add_template(const Request& request) {
  const json body = body_of(request);
  const Caller caller = caller_of(request.peer);
  TemplateRequest wanted = template_request(body);
  wanted.volume = look(caller, request, body);
  commands_.check_template(caller, wanted);
  wanted.volume_sha256 = on_users_thread<std::string>(
      files_, caller, request, body,
      [facts = wanted.volume](const PassedFile& volume, const FileWork::Sign& sign) {
        return hash_of(volume, facts, sign);
      });
  const CountAnswer counted = count(caller, request, body, wanted);
  if (!counted.refused.empty()) throw Invalid(counted.refused);
  wanted.counts = counted.counts;
  const AddedTemplate added = commands_.add_template(caller, wanted);
  json answer = {{"template", template_json(added.record)}, {"existed", added.existed}};
  if (!counted.unchecked.empty()) put_text(answer, "warning", unchecked_text(counted.unchecked));
  return answer;
}

// One file of POST /v1/items.
struct Service::Entry {
  EnqueueRequest request{};
  PassedFile file{};
  bool refused = false;
  json answer{};
};

// Does nothing for one that was refused.
template <typename Action>
void Service::guarded(Entry& entry, Action action) {
  if (entry.refused) return;
  try {
    action();
  } catch (const CommandError& error) {
    entry.refused = true;
    entry.answer = error_of(error);
  }
}

void Service::look_at(const Caller& caller, std::vector<Entry>& entries) {
  const auto first = std::find_if(entries.begin(), entries.end(),
                                  [](const Entry& entry) { return !entry.refused; });
  if (first == entries.end()) return;
  const std::string path = first->file.path;
  const auto looked_at = std::make_shared<std::vector<Entry>>(std::move(entries));
  entries =
      looks_.ask<std::vector<Entry>>(caller.uid, path, [looked_at](const FileWork::Sign& sign) {
        for (Entry& entry : *looked_at) {
          if (!sign(entry.file.path)) break;
          guarded(entry, [&] {
            const PassedFile file = std::move(entry.file);
            entry.request.micrograph = facts_of(file);
          });
        }
        return std::move(*looked_at);
      });
}

json Service::enqueue(const Request& request) {
  const json body = body_of(request);
  const auto entries = body.find("items");
  if (entries == body.end() || !entries->is_array()) throw Invalid("\"items\" must be a list");
  const Caller caller = caller_of(request.peer);
  commands_.check_shared(caller, options_of(body), get_text(body, "label").value_or(""));
  // Each file is enqueued by itself: a refused one does not keep the others out.
  std::vector<Entry> wanted;
  for (const json& entry : *entries) {
    Entry& next = wanted.emplace_back();
    guarded(next, [&] {
      next.request = enqueue_request(body, entry);
      next.file = take_passed(request, entry);
    });
  }
  look_at(caller, wanted);
  json answers(wanted.size(), nullptr);
  std::vector<EnqueueRequest> requests;
  std::vector<size_t> places;  // of the requests among the answers
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].refused) {
      answers[i] = std::move(wanted[i].answer);
    } else {
      requests.push_back(std::move(wanted[i].request));
      places.push_back(i);
    }
  }
  const std::vector<Enqueued> enqueued = commands_.enqueue(caller, requests);
  std::map<int64_t, std::string> names;
  for (size_t i = 0; i < enqueued.size(); ++i) {
    if (enqueued[i].refused) {
      answers[places[i]] = error_of(*enqueued[i].refused);
      continue;
    }
    const db::Item& item = *enqueued[i].item;
    std::string& name = names[item.template_id];
    if (name.empty()) name = template_name(item.template_id);
    answers[places[i]] = {{"item", item_json(item, name)}};
  }
  hooks_.wake();
  return {{"items", answers}};
}

// An attempt that cannot be read is its own item's fault.
void Service::put_progress_of_newest(int64_t item, json& entry) const {
  entry["progress"] = nullptr;
  try {
    const auto attempt = db::AttemptStore(database_).newest_of_item(item);
    if (attempt) put_progress(*attempt, entry);
  } catch (const db::UnreadableRow& error) {
    put_text(entry, "progress_problem", error.what());
  }
}

// Written entry by entry, since a page of parsed JSON takes many times the memory of its text.
std::string Service::list(const Request& request) const {
  const bool explain = parameter(request, "explain") == "1";
  const bool progress = parameter(request, "progress") == "1";
  const bool brief = parameter(request, "brief") == "1";
  const db::ItemQuery query = item_query(request);
  const std::vector<db::Item> items = db::ItemStore(database_).list(query);
  const bool is_full = !items.empty() && static_cast<int64_t>(items.size()) == query.limit;
  const auto explanations = explain ? commands_.explain(items) : std::vector<std::string>();
  std::map<int64_t, std::string> names;
  // At the front, so that who reads on can ask for the next page before it parses this one.
  const int64_t next = is_full ? items.back().id : 0;
  std::string text = kListBegin + std::to_string(next) + ",\"items\":[";
  for (size_t i = 0; i < items.size(); ++i) {
    const db::Item& item = items[i];
    std::string& name = names[item.template_id];
    if (name.empty()) name = template_name(item.template_id);
    json entry = brief ? brief_item_json(item, name) : item_json(item, name);
    if (explain) put_text(entry, "explanation", explanations[i]);
    if (progress && item.state == db::ItemState::kActive) put_progress_of_newest(item.id, entry);
    if (item.state == db::ItemState::kDone) {
      const auto result = db::ResultStore(database_).find(item.id);
      entry["result"] = result ? result_json(*result) : json(nullptr);
    }
    text += (i == 0 ? "" : ",") + entry.dump();
  }
  return text + "]}";
}

json Service::show(int64_t item) const {
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

json Service::results(int64_t item) const {
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
                 {"submitted", script.submitted}};
  put_text(answer, "script", script.text);
  if (wanted.test_only) put_text(answer, "test_only", script.test_only);
  return answer;
}

json Service::doctor(const Request& request) {
  if (!caller_of(request.peer).privileged) {
    throw NotPermitted("only root or the daemon's own user may check the installation");
  }
  if (examining_.exchange(true)) throw Conflict("the installation is already being checked", 0);
  json list = json::array();
  try {
    for (const slurm::Finding& finding : hooks_.examine()) list.push_back(finding_json(finding));
  } catch (...) {
    examining_ = false;
    throw;
  }
  examining_ = false;
  return {{"findings", list}};
}

json Service::stop(const Request& request) {
  const Caller caller = caller_of(request.peer);
  if (!caller.privileged) {
    throw NotPermitted("only root or the daemon's own user may stop the daemon");
  }
  const DaemonStatus status = hooks_.status();
  hooks_.stop();
  return {{"stopping", true}, {"pid", status.pid}};
}

json Service::pause(const Request& request) {
  const json body = body_of(request);
  commands_.pause(caller_of(request.peer), get_text(body, "reason").value_or(""),
                  options_of(body, "lane"));
  hooks_.wake();
  return {{"paused", true}};
}

json Service::resume(const Request& request) {
  const json body = request.body.empty() ? json::object() : body_of(request);
  const bool was_paused = commands_.resume(caller_of(request.peer), options_of(body, "lane"));
  hooks_.wake();
  return {
      {"paused", false}, {"was_paused", was_paused}, {"held_lanes", held_json(hooks_.status())}};
}

}  // namespace scheduler::api
