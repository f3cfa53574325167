#include "scheduler/api/service.h"

#include <spdlog/spdlog.h>

#include "db/templates.h"
#include "scheduler/api/callers.h"
#include "scheduler/api/history_json.h"
#include "scheduler/api/plan_json.h"
#include "scheduler/api/records_json.h"
#include "scheduler/api/request_values.h"
#include "scheduler/api/submission.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

using nlohmann::json;

bool is_list(const Request& request) {
  return request.method != "POST" &&
         words_of(request.path, '/') == std::vector<std::string>{"v1", "items"};
}

Response answer(json document, int status) {
  document["format"] = 1;
  return {.status = status, .body = document.dump()};
}

}  // namespace

bool takes_long(const Head& head) {
  const std::vector<std::string> path = words_of(head.path, '/');
  if (path.size() < 2) return false;
  return (head.method == "POST" && path[1] == "templates" && path.size() == 2) ||
         path.back() == "script" || path[1] == "site" || path[1] == "gc" || path[1] == "database";
}

namespace {

// Writes a path as a string of JSON, which has no line breaks.
std::string in_one_line(const std::string& path) {
  return json(path).dump(-1, ' ', true, json::error_handler_t::replace);
}

}  // namespace

Response Service::handle(Request& request) {
  Response response = respond(request);
  spdlog::debug("{} {} of user {}: {}", request.method, in_one_line(request.path), request.peer.uid,
                response.status);
  return response;
}

Response Service::respond(Request& request) {
  try {
    if (is_list(request)) return {.body = list(request)};
    return answer(route(request), 200);
  } catch (const CommandError& error) {
    return answer(error_of(error), refusal_of(error.fault()).status);
  } catch (const std::exception& error) {
    spdlog::error("{} {}: {}", request.method, in_one_line(request.path), error.what());
    const Refusal internal;
    return answer({{"error", error_json(internal.kind, error.what(), 0)}}, internal.status);
  }
}

json Service::route(Request& request) {
  const std::vector<std::string> path = words_of(request.path, '/');
  const bool post = request.method == "POST";
  if (path.size() >= 2 && path[0] == "v1") {
    if (path.size() == 2 && path[1] == "status" && !post) return status();
    if (path.size() == 2 && path[1] == "plan" && !post) {
      return plan_json(commands_.plan_view());
    }
    if (path.size() == 2 && path[1] == "history" && !post) return history(request);
    if (path.size() == 2 && path[1] == "site" && !post) return site_json(hooks_.site());
    if (path.size() == 2 && path[1] == "whoami" && !post) return whoami(request);
    if (path.size() == 2 && path[1] == "stop" && post) return stop(request);
    if (path.size() == 2 && path[1] == "pause" && post) return pause(request);
    if (path.size() == 2 && path[1] == "resume" && post) return resume(request);
    if (path.size() == 2 && path[1] == "changes" && post) return change_several(request);
    if (path.size() == 2 && path[1] == "doctor" && post) return doctor(request);
    if (path.size() == 2 && path[1] == "gc" && post) return gc(request);
    if (path.size() == 3 && path[1] == "database" && post) return route_database(request, path[2]);
    if (path.size() == 2 && path[1] == "templates") {
      return post ? add_template(request) : templates();
    }
    if (path.size() == 4 && path[1] == "templates" && post) return change_template(request, path);
    if (path.size() == 2 && path[1] == "items") return enqueue(request);
    if (path[1] == "items") return route_item(request, path);
  }
  throw NotFound("unknown address: " + request.method + " " + request.path);
}

json Service::status() const {
  json answer = status_json(hooks_.status());
  const ExpectedQueue queue = commands_.queue_end();
  answer["expected_end"] = queue.done;
  answer["expected_unknown"] = queue.unknown;
  return answer;
}

json Service::whoami(const Request& request) const {
  const Caller caller = caller_of(request.peer);
  const UrgentRight urgent = commands_.urgent_right(caller);
  json groups = json::array();
  for (const std::string& group : caller.groups()) groups.push_back(group);
  json tokens = json::array();
  for (const GroupTokens& of_group : urgent.tokens) {
    tokens.push_back({{"group", of_group.group},
                      {"of_week", of_group.of_week},
                      {"left", of_group.left},
                      {"next", of_group.next}});
  }
  return {{"user", caller.name},           {"uid", caller.uid},
          {"group", caller.group()},       {"groups", std::move(groups)},
          {"operator", caller.privileged}, {"urgent", urgent.may()},
          {"urgent_allowed", urgent.who},  {"urgent_tokens", std::move(tokens)}};
}

json Service::route_item(Request& request, const std::vector<std::string>& path) {
  const int64_t item = integer(path[2], "item");
  const std::string action = path.size() == 4 ? path[3] : "";
  if (path.size() <= 4 && request.method == "POST" && !action.empty()) {
    return change(request, item, action);
  }
  if (path.size() == 3 && request.method == "GET") return show(request, item);
  if (!action.empty()) commands_.check_may_read(caller_of(request.peer), item);
  if (action == "log") return log(request, item);
  if (action == "results") return results(request, item);
  if (action == "script") return script(request, item);
  throw NotFound("unknown address: " + request.method + " " + request.path);
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

// The address has the name of the template, and of the version as "name@version".
json Service::change_template(const Request& request, const std::vector<std::string>& path) {
  const Caller caller = caller_of(request.peer);
  const auto [name, version] = template_name_of(path[2]);
  if (path[3] == "remove") {
    json removed = json::array();
    for (const db::Template& record : commands_.remove_template(caller, name, version)) {
      removed.push_back(template_json(record));
    }
    return {{"removed", removed}};
  }
  if (path[3] == "rename" && !version) {
    const std::string new_name = required_text(body_of(request), "name");
    commands_.rename_template(caller, name, new_name);
    return {{"name", new_name}};
  }
  throw NotFound("unknown change '" + path[3] +
                 "' of a template; use remove, or rename all versions");
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

json Service::gc(const Request& request) {
  if (!caller_of(request.peer).privileged) {
    throw NotPermitted("only root or the daemon's own user may remove what all users have left");
  }
  const json body = request.body.empty() ? json::object() : body_of(request);
  const bool dry_run = flag_of(body, "dry_run");
  json answer = gc_json(hooks_.gc(dry_run));
  answer["dry_run"] = dry_run;
  return answer;
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
