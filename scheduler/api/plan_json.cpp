#include "scheduler/api/plan_json.h"

#include <cmath>
#include <vector>

#include "scheduler/http/json_text.h"

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

nlohmann::json width_json(const ClusterLimits& limits, const Width& width) {
  return {{"nodes", width.nodes},
          {"gpus_per_node", width.gpus_per_node},
          {"gets", text_of(limits, width)}};
}

int64_t whole(double seconds) { return std::llround(seconds); }

// Null: nothing is certain.
nlohmann::json time_or_null(int64_t made, double seconds) {
  if (!std::isfinite(seconds)) return nullptr;
  return made + whole(seconds);
}

}  // namespace

nlohmann::json forecast_json(const Commands::Forecast& forecast) {
  if (!forecast.item) return nullptr;
  const ItemForecast& item = *forecast.item;
  const int64_t made = forecast.plan->plan.made;
  const ClusterLimits& limits = forecast.plan->plan.limits;
  nlohmann::json document = {{"start_by", time_or_null(made, item.start_late)},
                             {"done_by", time_or_null(made, item.done_late)},
                             {"jobs_not_counted", item.not_placed},
                             {"widths", nlohmann::json::array()},
                             {"promotions", nlohmann::json::array()}};
  for (const WidthAtTurn& one : item.widths) {
    nlohmann::json entry = width_json(limits, one.width);
    entry["wait"] = whole(one.wait);
    entry["run"] = whole(one.run);
    entry["done"] = made + whole(one.done);
    entry["done_by"] = time_or_null(made, one.done_late);
    entry["expected"] = item.width == one.width;
    document["widths"].push_back(std::move(entry));
  }
  for (const Promotion& one : item.promotions) {
    nlohmann::json entry = width_json(limits, one.width);
    entry["priority"] = db::to_string(one.priority);
    entry["start"] = made + whole(one.start);
    entry["done"] = made + whole(one.done);
    entry["sooner"] = whole(one.sooner);
    entry["more_gpu_seconds"] = whole(one.more_gpu_seconds);
    entry["delayed"] = one.delayed;
    entry["longest_delay"] = whole(one.longest_delay);
    document["promotions"].push_back(std::move(entry));
  }
  return document;
}

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
