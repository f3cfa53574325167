#include "scheduler/policy/queue_snapshot.h"

namespace scheduler {
namespace {

bool leads_elsewhere(const std::map<std::string, std::string>& place) {
  return place.contains("partition") || place.contains("reservation");
}

}  // namespace

const ItemAsks& asks_of(const PlanItem& item) {
  static const ItemAsks nothing;
  return item.asks ? *item.asks : nothing;
}

bool runs_elsewhere(const ClusterLimits& limits, const PlanItem& item) {
  if (leads_elsewhere(asks_of(item).place)) return true;
  const auto of_class = limits.class_options.find(item.priority);
  return of_class != limits.class_options.end() && leads_elsewhere(of_class->second);
}

bool has_own_place(const ClusterLimits& limits, const PlanItem& item) {
  const ItemAsks& asks = asks_of(item);
  return runs_elsewhere(limits, item) || asks.own_width || !asks.size.empty();
}

const Width& width_for(const ClusterLimits& limits, db::Priority priority) {
  return priority == db::Priority::kUrgent && limits.urgent ? *limits.urgent : limits.width;
}

std::string text_of(const ClusterLimits& limits, const Width& width) {
  return limits.queues || width.gpus() > 0 ? to_string(width) : "1 device";
}

bool fits(const Width& width, const ClusterLimits& limits, const JobBounds& bounds) {
  return (limits.most_nodes == 0 || width.nodes <= limits.most_nodes) &&
         (bounds.most_nodes == 0 || width.nodes <= bounds.most_nodes) &&
         (bounds.most_gpus == 0 || width.gpus() <= bounds.most_gpus);
}

bool may_widen(const ClusterLimits& limits) { return limits.urgent || !limits.classes.empty(); }

std::string lane_of_width(const ClusterLimits& limits, db::Priority priority,
                          const std::string& lane, const Width& width) {
  if (width == limits.width || width == width_for(limits, priority)) return lane;
  return lane + (lane.empty() ? "" : ", ") + to_string(width);
}

JobBounds bounds_of(const PlaceBounds& bounds, db::Priority priority,
                    const std::map<std::string, std::string>& place) {
  auto found = bounds.find({priority, place});
  if (found == bounds.end()) found = bounds.find({priority, {}});
  return found == bounds.end() ? JobBounds() : found->second;
}

JobBounds bounds_of(const PlaceBounds& bounds, const PlanItem& item) {
  return bounds_of(bounds, item.priority, asks_of(item).place);
}

}  // namespace scheduler
