#include "scheduler/policy/plan_text.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/text.h"
#include "scheduler/forecast/span_text.h"

namespace scheduler {
namespace {

// "3 items before it (2 high, 1 normal)"
std::string queue_before(const ByClass& ahead) {
  int64_t total = 0;
  std::string classes;
  for (size_t i = 0; i < ahead.size(); ++i) {
    if (ahead[i] == 0) continue;
    total += ahead[i];
    classes += (classes.empty() ? "" : ", ") + std::to_string(ahead[i]) + " " +
               to_string(static_cast<db::Priority>(i));
  }
  if (total == 0) return "next in the queue";
  return base::counted(total, "item") + " before it (" + classes + ")";
}

std::string slots_busy(const Reason& reason, const ClusterLimits& limits) {
  const std::string busy = std::to_string(reason.busy) + " of ";
  if (limits.queues) return busy + base::counted(limits.slots, "job") + " in Slurm";
  if (limits.width.gpus() == 1) return busy + base::counted(limits.slots, "GPU") + " busy";
  return busy + base::counted(limits.slots, "device slot") + " busy";
}

std::string place_in_class(const Reason& reason) {
  if (reason.ready == 1) return "only ready item of class " + to_string(reason.priority);
  const char* turn = reason.groups_in_turn ? "its group's turn among " : "its owner's turn among ";
  return (reason.owners_in_turn || reason.groups_in_turn ? turn : "first of ") +
         std::to_string(reason.ready) + " ready items of class " + to_string(reason.priority);
}

std::string text_at(const Plan& plan, const Reason& reason) {
  return reason.text < 0 ? "" : plan.texts.at(static_cast<size_t>(reason.text));
}

std::string percent(double share) {
  std::ostringstream text;
  text << std::setprecision(3) << 100 * share << " %";
  return text.str();
}

// Of an item that items of higher classes go before. Empty where no class has a floor.
std::string bound_text(const Plan& plan, const Reason& reason, const Decision& decision) {
  const size_t own = static_cast<size_t>(reason.priority);
  const bool above = std::any_of(reason.ahead.begin(), reason.ahead.begin() + own,
                                 [](int64_t items) { return items > 0; });
  if (!above || plan.limits.classes.empty() || reason.apart) return "";
  const std::string no_bound = "; how long items of higher classes keep it waiting has no bound, ";
  const auto share = plan.limits.floors.find(reason.priority);
  if (share == plan.limits.floors.end()) {
    return no_bound + "since the floor of class " + to_string(reason.priority) + " is 0";
  }
  const auto floor = plan.floors.find(reason.priority);
  if (floor == plan.floors.end()) {
    return no_bound + "since the GPUs of the cluster are not known at present";
  }
  if (floor->second.usable == 0) {
    return no_bound + "since other people's jobs hold all GPUs at present";
  }
  const auto wait = longest_wait(floor->second, decision.count);
  return "; " + floor_text(floor->second) +
         (wait ? ": judging by what is known now it waits at most " + span_text(*wait) : "");
}

std::string start_text(const Plan& plan, const Reason& reason) {
  std::string text;
  if (reason.why == Why::kProbe) {
    text = std::string("is tried first, to see whether jobs run again") +
           (reason.plain ? ", since it has no options of its own; " : "; ");
  } else if (reason.why == Why::kFloor) {
    text = place_in_class(reason) + "; " + floor_text(plan.floors.at(reason.priority)) + "; ";
  } else {
    text = place_in_class(reason) +
           (reason.others_wait
                ? "; each higher class already has as many jobs waiting in Slurm as it may; "
                : " and no higher class waits; ");
  }
  return text + slots_busy(reason, plan.limits) + ", so it gets " + text_at(plan, reason);
}

// Of its kind; empty when these are not what it waits for.
std::string already_waiting(const Reason& reason) {
  if (reason.jobs == 0) return "";
  return base::counted(reason.jobs, "job") + " of class " + to_string(reason.priority) +
         (reason.apart ? " that ask for nodes, GPUs, processors or memory of their own" : "") +
         (reason.jobs == 1 ? " waits" : " wait") + " in Slurm already; ";
}

std::string gpu_hours(double seconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << seconds / 3600;
  return text.str();
}

// Empty where its group goes first.
std::string group_text(const Plan& plan, const Reason& reason, const Decision& decision) {
  if (reason.first_group < 0) return "";
  const GroupUse& first = plan.groups.at(static_cast<size_t>(reason.first_group));
  const GroupUse& own = plan.groups.at(static_cast<size_t>(decision.group));
  const std::string goes_first = first.name.empty()
                                     ? "users whose group is not known go first, since they have"
                                     : "group " + first.name + " goes first, since it has";
  const bool alike = first.share == 1 && own.share == 1;
  return "; " + goes_first + " used less " + (alike ? "(" : "for its share (") +
         gpu_hours(use_per_share(first)) + " against " + gpu_hours(use_per_share(own)) +
         " GPU hours" + (alike ? "" : " for a share of 1") +
         ", with its jobs in the cluster, counted with a half-life of 7 days)";
}

std::string queue_text(const Plan& plan, const Reason& reason, const Decision& decision) {
  std::string text = "waits: ";
  if (!plan.pause_reason.empty()) text += plan.pause_reason + "; ";
  text += already_waiting(reason);
  if (reason.stuck > 0) {
    text += base::counted(reason.stuck, "job") +
            " of its owner with options of their own cannot start; ";
  }
  ByClass ahead = reason.ahead;
  ahead.at(static_cast<size_t>(reason.priority)) = decision.count;
  return text + queue_before(ahead) + group_text(plan, reason, decision) + "; " +
         slots_busy(reason, plan.limits) + bound_text(plan, reason, decision);
}

}  // namespace

std::string floor_text(const Floor& floor) {
  return "its class gets at least " + percent(floor.share) + " of the " +
         base::counted(floor.usable, "GPU") + " that Margay may use, whatever waits above it";
}

std::string held_text(int64_t item_id) {
  return "held (margay release " + std::to_string(item_id) + ")";
}

std::string retry_text(int64_t seconds) {
  return "waiting " + base::counted(seconds, "second") + " before a retry";
}

std::string stops_text(const ClusterLimits& limits, db::Priority priority) {
  if (!limits.classes.empty()) return "stopping with a checkpoint, to resume with another width";
  return "stopping with a checkpoint, to resume with " +
         text_of(limits, width_for(limits, priority));
}

std::string sentence(const Plan& plan, const Decision& decision) {
  const Reason& reason = plan.reasons.at(decision.reason);
  switch (reason.why) {
    case Why::kTurn:
    case Why::kFloor:
    case Why::kProbe:
      return start_text(plan, reason);
    case Why::kQueue:
      return queue_text(plan, reason, decision);
    case Why::kHold:
      return "waits: " + text_at(plan, reason);
    case Why::kUnread:
      return kBeingRead + (reason.text < 0 ? "" : "; " + text_at(plan, reason));
    case Why::kRetry:
      return retry_text(decision.count);
    case Why::kHeld:
      return held_text(decision.item_id);
    case Why::kCancelled:
      return kBeingCancelled;
    case Why::kRuns:
      return "running";
    case Why::kStops:
      return stops_text(plan.limits, decision.priority);
    case Why::kWidens:
      return text_at(plan, reason);
  }
  return "";
}

}  // namespace scheduler
