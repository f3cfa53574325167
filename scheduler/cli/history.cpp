#include "scheduler/cli/history.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/duration.h"
#include "db/records.h"
#include "scheduler/simulate/trace_writer.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::minutes kSiteTimeout{3};  // the cluster is asked

RuntimeModel model_of(const json& document) {
  RuntimeModel model;
  if (document.is_null()) return model;
  model.serial_seconds = document.at("serial_seconds");
  model.start_seconds_gpu = document.at("start_up").at("gpu");
  model.start_seconds_node = document.at("start_up").at("node");
  model.start_seconds_nodes = document.at("start_up").at("nodes");
  model.sigma = document.at("sigma");
  for (const auto& [gpus, loss] : document.at("straggler").items()) {
    model.straggler_loss[std::stoi(gpus)] = loss;
  }
  return model;
}

Recorded recorded_site(const Context& context) {
  const json site = context.get("/v1/site", kSiteTimeout);
  Recorded recorded{.nodes = site.at("nodes"),
                    .gpus_per_node = site.at("gpus_per_node"),
                    .max_jobs = site.at("max_jobs"),
                    .max_pending = site.at("max_pending"),
                    .segment = site.at("segment"),
                    .classes = site.at("classes")};
  if (recorded.nodes < 1) {
    throw Failure(Exit::kFailed, "the site's nodes are not known: " + text_of(site, "problem"));
  }
  return recorded;
}

// Live sessions are not simulated: what they enqueue counts as urgent.
db::Priority class_of(const json& item) {
  const auto priority = db::parse<db::Priority>(item.at("priority").get<std::string>());
  return std::max(priority.value_or(db::Priority::kNormal), db::Priority::kUrgent);
}

// False: nobody knows how long it takes.
bool add_item(const json& item, int64_t since, Recorded& recorded) {
  const json& work = item.at("work_seconds");
  const json& took = item.at("took_seconds");
  if (work.is_null() && took.is_null()) return false;
  const int64_t arrived = item.at("arrived");
  const int64_t finish_by = item.at("finish_by");
  RecordedItem added{
      .arrival = arrived - since,
      .priority = class_of(item),
      .group = text_of(item, "group"),
      .work = work.is_null() ? took : work,
      .deadline_after = finish_by == 0 ? 0 : std::max<int64_t>(1, finish_by - arrived)};
  if (!took.is_null() && !work.is_null()) added.took = took.get<double>();
  recorded.items.push_back(std::move(added));
  return true;
}

void read_pages(const Context& context, int64_t since, Recorded& recorded, HistoryTrace& trace) {
  bool has_model = false;
  for (int64_t after = 0;;) {
    const json page = context.get("/v1/history?since=" + std::to_string(since) +
                                  "&after=" + std::to_string(after));
    for (const json& item : page.at("items")) {
      if (!add_item(item, since, recorded)) ++trace.unknown;
    }
    trace.given_up += page.at("left_out").get<int64_t>();
    if (!has_model) recorded.model = model_of(page.at("model"));
    has_model = has_model || !page.at("model").is_null();
    after = page.at("next");
    if (after == 0) break;
  }
  // Numbers follow the clock, unless that was set back.
  std::stable_sort(recorded.items.begin(), recorded.items.end(),
                   [](const auto& a, const auto& b) { return a.arrival < b.arrival; });
}

}  // namespace

HistoryTrace trace_of_history(const Context& context, const std::string& time) {
  const auto length = base::parse_duration(time);
  if (!length) throw Failure(Exit::kUsage, base::invalid_duration(time));
  const int64_t now = std::time(nullptr);
  const int64_t since = now - length->count() / 1000;
  HistoryTrace trace;
  Recorded recorded = recorded_site(context);
  recorded.title = "What arrived at this site within " + time + " before " + time_text(now) +
                   ", by 'margay simulate --from-history'.";
  read_pages(context, since, recorded, trace);
  if (recorded.items.empty()) {
    const bool none = trace.unknown + trace.given_up == 0;
    throw Failure(Exit::kNotFound,
                  none ? "no item has arrived in the last " + time + "; ask for a longer time"
                       : "of no item that arrived in the last " + time +
                             " is it known how long it takes; 'margay explain ITEM' says why");
  }
  trace.yaml = trace_yaml(recorded);
  return trace;
}

}  // namespace scheduler::cli
