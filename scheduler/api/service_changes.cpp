// Implements service.h: changes of one item and of many.
#include <map>
#include <utility>

#include "scheduler/api/callers.h"
#include "scheduler/api/records_json.h"
#include "scheduler/api/request_values.h"
#include "scheduler/api/service.h"
#include "scheduler/api/submission.h"
#include "scheduler/http/json_text.h"
#include "scheduler/http/unix_socket.h"

namespace scheduler::api {
namespace {

using nlohmann::json;

int64_t finish_by_in(const json& body) {
  const auto time = finish_by_of(body);
  if (time) return *time;
  throw Invalid(
      "\"finish_by\" is missing; give seconds since 1970 UTC, or 0 to remove the deadline");
}

// Their answer is made in memory.
constexpr size_t kMostChanged = 10'000;

// Of these the item's reason does not say enough.
bool changes_the_plan(const std::string& action) {
  return action == "promote" || action == "demote" || action == "finish-by";
}

int64_t item_of(const json& entry) {
  const json* number = &entry;
  if (entry.is_object() && entry.contains("id")) number = &entry.at("id");
  if (const auto id = base::as_whole_number<int64_t>(*number)) return *id;
  throw Invalid("an entry of \"items\" is not the number of an item");
}

}  // namespace

ItemAction Service::action_of(const Caller& caller, const std::string& action, const json& body) {
  if (action == "promote") return commands_.promotion(caller, priority_of(body));
  if (action == "demote") return commands_.demotion(caller, priority_of(body));
  if (action == "finish-by") return Commands::deadline(finish_by_in(body));
  if (action == "hold") return Commands::holding(caller);
  if (action == "release") return Commands::releasing();
  if (action == "cancel") return Commands::cancellation(caller);
  throw NotFound("unknown change '" + action +
                 "'; use promote, demote, finish-by, hold, release, cancel, retry or remove");
}

json Service::remove(const Request& request, int64_t item) {
  const json body = request.body.empty() ? json::object() : body_of(request);
  const Enqueued answer =
      commands_.remove(caller_of(request.peer), {item}, flag_of(body, "results")).front();
  if (answer.refused) throw CommandError(*answer.refused);
  hooks_.wake();
  return {{"item", item_json(*answer.item, template_name(answer.item->template_id))}};
}

json Service::change(const Request& request, int64_t item, const std::string& action) {
  if (action == "remove") return remove(request, item);
  const Caller caller = caller_of(request.peer);
  db::Item changed;
  if (action == "retry") {
    changed = commands_.retry(caller, item, retry_of(caller, request));
  } else {
    const json body = changes_the_plan(action) ? body_of(request) : json::object();
    changed = commands_.change(caller, item, action_of(caller, action, body));
  }
  hooks_.wake();
  json entry = item_json(changed, template_name(changed.template_id));
  if (changes_the_plan(action)) {
    const ItemView view = commands_.show(item);
    put_text(entry, "explanation", view.explanation);
    put_late(view.late_by, entry);
    put_expected(view.expected, entry);
  }
  return {{"item", entry}};
}

// What is wrong with the file of one item is no matter of the others: it is in `refused`.
std::map<int64_t, RetryRequest> Service::retries_of(const Caller& caller, const Request& request,
                                                    const json& body,
                                                    std::map<int64_t, CommandError>& refused) {
  const RetryRequest shared = retry_request(body);
  std::map<int64_t, RetryRequest> retries;
  for (const json& entry : body.at("items")) {
    const int64_t item = item_of(entry);
    RetryRequest& retry = retries[item] = shared;
    if (!entry.is_object() || !entry.contains("file")) continue;
    try {
      retry.micrograph = look(caller, request, entry);
    } catch (const CommandError& error) {
      refused.emplace(item, error);
    }
  }
  return retries;
}

std::vector<Enqueued> Service::changed(const Caller& caller, const Request& request,
                                       const json& body, const std::vector<int64_t>& items,
                                       bool dry_run) {
  const std::string action = required_text(body, "action");
  if (action == "remove") {
    return commands_.remove(caller, items, flag_of(body, "results"), dry_run);
  }
  if (action != "retry") {
    return commands_.change(caller, items, action_of(caller, action, body), dry_run);
  }
  std::map<int64_t, CommandError> refused;
  ItemAction retry = commands_.retrying(caller, retries_of(caller, request, body, refused));
  retry.change = [change = std::move(retry.change), &refused](db::Item& item) {
    const auto found = refused.find(item.id);
    if (found != refused.end()) throw CommandError(found->second);
    return change(item);
  };
  return commands_.change(caller, items, retry, dry_run);
}

json Service::change_several(const Request& request) {
  const json body = body_of(request);
  const auto entries = body.find("items");
  if (entries == body.end() || !entries->is_array()) throw Invalid("\"items\" must be a list");
  // Those that are retried come with their files.
  check_count(entries->size(),
              required_text(body, "action") == "retry" ? kMostFilesPassed : kMostChanged);
  std::vector<int64_t> items;
  for (const json& entry : *entries) items.push_back(item_of(entry));
  const bool dry_run = flag_of(body, "dry_run");
  const std::vector<Enqueued> answers =
      changed(caller_of(request.peer), request, body, items, dry_run);
  if (!dry_run) hooks_.wake();
  std::vector<db::Item> done;
  for (const Enqueued& answer : answers) {
    if (answer.item) done.push_back(*answer.item);
  }
  const bool explains = !dry_run && changes_the_plan(required_text(body, "action"));
  const auto explanations = explains ? commands_.explain(done) : std::vector<std::string>();
  const auto late = commands_.late(done);
  std::map<int64_t, std::string> names;
  json list = json::array();
  size_t next = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    json entry = {{"id", items[i]}};
    if (answers[i].refused) {
      entry.update(error_of(*answers[i].refused));
    } else {
      const db::Item& item = *answers[i].item;
      std::string& name = names[item.template_id];
      if (name.empty()) name = template_name(item.template_id);
      entry["item"] = item_json(item, name);
      if (explains) put_text(entry["item"], "explanation", explanations[next]);
      put_late(late[next++], entry["item"]);
    }
    list.push_back(std::move(entry));
  }
  return {{"items", std::move(list)}, {"dry_run", dry_run}};
}

}  // namespace scheduler::api
