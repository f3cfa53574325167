#include "scheduler/api/plan_json.h"

#include <vector>

#include "scheduler/api/json_text.h"

namespace scheduler::api {
namespace {

nlohmann::json planned_json(const std::vector<PlannedItem>& items, bool with_width) {
  nlohmann::json list = nlohmann::json::array();
  for (const PlannedItem& item : items) {
    nlohmann::json entry = {{"item", item.item_id}, {"priority", db::to_string(item.priority)}};
    put_text(entry, "explanation", item.explanation);
    if (with_width) {
      entry["nodes"] = item.width.nodes;
      entry["gpus_per_node"] = item.width.gpus_per_node;
      entry["gets"] = item.gets;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

nlohmann::json plan_json(const PlanView& plan) {
  nlohmann::json document = {{"made", plan.made},
                             {"waiting", plan.waiting},
                             {"starts", planned_json(plan.starts, true)},
                             {"stops", planned_json(plan.stops, true)},
                             {"next", planned_json(plan.next, false)}};
  put_text(document, "paused", plan.paused);
  return document;
}

}  // namespace scheduler::api
