#include "scheduler/policy/width_text.h"

namespace scheduler {
namespace {

std::string why_this_width(const PlanItem& item, const ClusterLimits& limits) {
  if (!limits.urgent) return "";
  if (item.priority == db::Priority::kUrgent) return ", since it is urgent";
  return ", since only urgent items get " + text_of(limits, *limits.urgent);
}

}  // namespace

std::string what_it_gets(const PlanItem& item, const ItemWidth& width,
                         const QueueSnapshot& snapshot) {
  if (asks_of(item).own_width) return "what its own options ask for";
  const std::string text = text_of(snapshot.limits, width.width);
  if (!width.choice) {
    return text + why_this_width(item, snapshot.limits) +
           (width.not_chosen.empty() ? "" : "; no width was chosen, since " + width.not_chosen);
  }
  return text + ": " + explain(width, *snapshot.times[static_cast<size_t>(item.kind)], item.left);
}

std::string widening_text(const PlanItem& item, const ItemWidth& width,
                          const ClusterLimits& limits) {
  const std::string wide = text_of(limits, width.width);
  return "has " + text_of(limits, *item.width) +
         (width.choice ? ", and with " + wide + " it would be " + explain_instead(width)
                       : ", and urgent items get " + wide);
}

std::string narrowing_text(const PlanItem& item, const ItemWidth& width,
                           const ClusterLimits& limits) {
  return "has " + text_of(limits, *item.width) + ", more than class " + to_string(item.priority) +
         " may have, and with " + text_of(limits, width.width) + " " + explain_narrower(width);
}

}  // namespace scheduler
