#include "scheduler/api/history_json.h"

#include <optional>
#include <utility>

#include "db/records.h"
#include "scheduler/http/json_text.h"

namespace scheduler::api {
namespace {

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json model_json(const RuntimeModel& model) {
  nlohmann::json straggler = nlohmann::json::object();
  for (const auto& [gpus, loss] : model.straggler_loss) straggler[std::to_string(gpus)] = loss;
  return {{"serial_seconds", model.serial_seconds},
          {"start_up",
           {{"gpu", model.start_seconds_gpu},
            {"node", model.start_seconds_node},
            {"nodes", model.start_seconds_nodes}}},
          {"straggler", std::move(straggler)},
          {"sigma", model.sigma}};
}

}  // namespace

nlohmann::json history_json(const History& history) {
  nlohmann::json items = nlohmann::json::array();
  for (const PastItem& item : history.items) {
    nlohmann::json entry = {{"item", item.id},
                            {"arrived", item.arrived},
                            {"priority", db::to_string(item.priority)},
                            {"finish_by", item.finish_by},
                            {"work_seconds", or_null(item.work)},
                            {"took_seconds", or_null(item.took)}};
    put_text(entry, "group", item.group);
    items.push_back(std::move(entry));
  }
  return {{"items", std::move(items)},
          {"left_out", history.left_out},
          {"next", history.next},
          {"model", history.model ? model_json(*history.model) : nlohmann::json(nullptr)}};
}

nlohmann::json site_json(const SiteSize& site) {
  nlohmann::json document = {
      {"nodes", site.nodes},       {"gpus_per_node", site.gpus_per_node},
      {"max_jobs", site.max_jobs}, {"max_pending", site.max_pending},
      {"segment", site.segment},   {"classes", nlohmann::json(site.classes)}};
  put_text(document, "problem", site.problem);
  return document;
}

}  // namespace scheduler::api
