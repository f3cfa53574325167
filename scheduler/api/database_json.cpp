#include "scheduler/api/database_json.h"

#include "scheduler/http/json_text.h"

namespace scheduler::api {

nlohmann::json verification_json(const db::Verification& found) {
  nlohmann::json states = nlohmann::json::object();
  for (const auto& [state, count] : found.item_states) states[state] = count;
  nlohmann::json problems = nlohmann::json::array();
  for (const db::Problem& problem : found.problems) {
    nlohmann::json entry = {{"advice", problem.advice}};
    put_text(entry, "says", problem.says);
    problems.push_back(std::move(entry));
  }
  nlohmann::json document = {{"schema", found.schema},
                             {"newest_schema", found.newest_schema},
                             {"instance", found.instance},
                             {"items", found.items},
                             {"item_states", std::move(states)},
                             {"attempts", found.attempts},
                             {"open_attempts", found.open_attempts},
                             {"results", found.results},
                             {"templates", found.templates},
                             {"problems", std::move(problems)}};
  put_text(document, "database", found.database);
  return document;
}

}  // namespace scheduler::api
