#include "scheduler/config/class_widths.h"

#include <algorithm>

namespace scheduler {
namespace {

using db::Priority;

Width width_of_nodes(const SlurmOptions& slurm, int nodes) {
  return nodes == 0 ? Width{} : Width{.nodes = nodes, .gpus_per_node = slurm.gpus_per_node};
}

ClassWidths documented(const SlurmOptions& slurm, Priority priority) {
  const auto nodes = [&](int count) { return width_of_nodes(slurm, count); };
  switch (priority) {
    case Priority::kLive:
    case Priority::kUrgent:
      return {Width{}, nodes(kMostNodes), nodes(kMostNodes), 0.50};
    case Priority::kHigh:
      return {Width{}, nodes(1), nodes(4), 0.80};
    case Priority::kNormal:
      return {Width{}, nodes(1), nodes(1), 0.97};
    case Priority::kLow:
      return {Width{}, Width{}, nodes(1), 0.98};
  }
  return {};
}

// A configuration that names a shape means it for everything but urgent items.
ClassWidths of_shapes(const SlurmOptions& slurm, Priority priority) {
  ClassWidths widths = documented(slurm, priority);
  const bool urgent = priority <= Priority::kUrgent;
  if (slurm.shape_given) {
    const Width shape = width_of(slurm, slurm.shape);
    widths.least = widths.cap = widths.deadline_cap = shape;
  }
  if (urgent && slurm.urgent_shape) {
    widths.cap = widths.deadline_cap = width_of(slurm, *slurm.urgent_shape);
  }
  return widths;
}

}  // namespace

std::map<db::Priority, ClassWidths> class_widths_of(const Config& config) {
  const SlurmOptions& slurm = config.slurm;
  if (config.policy.widths == WidthsBy::kFixed) return {};
  if (config.cluster != ClusterKind::kSlurm || slurm.shape == Shape::kCpu) return {};
  std::map<db::Priority, ClassWidths> all;
  for (const Priority priority :
       {Priority::kUrgent, Priority::kHigh, Priority::kNormal, Priority::kLow}) {
    ClassWidths widths = of_shapes(slurm, priority);
    if (const auto found = config.policy.classes.find(priority);
        found != config.policy.classes.end()) {
      const ClassOptions& own = found->second;
      if (own.least) widths.least = width_of_nodes(slurm, *own.least);
      widths.cap = own.cap ? width_of_nodes(slurm, *own.cap) : std::max(widths.cap, widths.least);
      widths.deadline_cap = std::max(widths.deadline_cap, widths.cap);
      if (own.deadline_cap) widths.deadline_cap = width_of_nodes(slurm, *own.deadline_cap);
      if (own.least_efficiency) widths.least_efficiency = *own.least_efficiency;
    }
    all[priority] = widths;
  }
  return all;
}

std::string widths_text(const Config& config) {
  std::string text;
  for (const auto& [priority, widths] : class_widths_of(config)) {
    const std::string most = widths.cap.nodes >= kMostNodes ? "all nodes" : to_string(widths.cap);
    text += (text.empty() ? "" : ", ") + to_string(priority) + " " + to_string(widths.least) +
            (widths.cap == widths.least ? "" : " to " + most);
  }
  if (text.empty()) return "";
  const SlurmOptions& slurm = config.slurm;
  if (slurm.shape_given) text += "; slurm.shape fixes those of all but urgent items";
  if (slurm.urgent_shape) text += "; slurm.urgent_shape is the most of urgent ones";
  return "the policy chooses how wide each job is: " + text +
         " (for slurm.shape and slurm.urgent_shape alone set policy.widths to fixed)";
}

std::map<db::Priority, double> floors_of(const Config& config) {
  if (class_widths_of(config).empty()) return {};
  std::map<db::Priority, double> floors = {{Priority::kNormal, 0.10}, {Priority::kLow, 0.05}};
  for (const auto& [priority, options] : config.policy.classes) {
    if (options.floor) floors[priority] = *options.floor;
  }
  std::erase_if(floors, [](const auto& floor) { return floor.second <= 0; });
  return floors;
}

std::vector<Width> menu_of(const Config& config) {
  std::vector<Width> menu = widths_of(config.slurm.gpus_per_node, kMostNodes);
  for (const auto& [priority, widths] : class_widths_of(config)) {
    for (const Width& width : {widths.least, widths.cap, widths.deadline_cap}) {
      if (width.nodes < kMostNodes) menu.push_back(width);
    }
  }
  std::sort(menu.begin(), menu.end());
  menu.erase(std::unique(menu.begin(), menu.end()), menu.end());
  return menu;
}

}  // namespace scheduler
