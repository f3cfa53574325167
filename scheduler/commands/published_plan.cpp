#include "scheduler/commands/published_plan.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "scheduler/commands/job_state_text.h"
#include "scheduler/commands/read_snapshot.h"
#include "scheduler/policy/plan_text.h"

namespace scheduler {
namespace {

// A tick that takes longer waits for the cluster.
constexpr std::chrono::milliseconds kLongTick{5000};

bool is_late(const PublishedPlan& plan, int64_t now) {
  return std::chrono::seconds(now - plan.plan.made) > plan.interval + kLongTick;
}

std::string age_of(const PublishedPlan& plan, int64_t now) {
  return base::counted(now - plan.plan.made, "second") +
         " old, since the daemon waits for the cluster";
}

std::string when_planned(const PublishedPlan* plan, int64_t now) {
  if (plan == nullptr) return "the daemon is making its first plan";
  if (is_late(*plan, now)) return "the last plan is " + age_of(*plan, now);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(plan->interval).count();
  return "the next plan is made within " + base::counted(std::max<int64_t>(seconds, 1), "second");
}

const Decision* decision_of(const db::Item& item, const PublishedPlan* plan) {
  return plan == nullptr ? nullptr : plan->find(item.id);
}

bool widens(const PublishedPlan& plan, const Decision& decision) {
  return plan.plan.reasons.at(decision.reason).why == Why::kWidens;
}

std::string explain_active(const db::Item& item, const db::Attempt* attempt,
                           const PublishedPlan* plan, int64_t now) {
  if (item.cancel_requested) return kBeingCancelled;
  if (attempt != nullptr && attempt->stop_asked != 0 && plan != nullptr) {
    return stops_text(plan->plan.limits, item.priority);
  }
  const Decision* decision = decision_of(item, plan);
  const bool same_class = decision == nullptr || decision->priority == item.priority;
  if (decision != nullptr && same_class && widens(*plan, *decision)) {
    return sentence(plan->plan, *decision);
  }
  std::string text = attempt == nullptr ? "running" : explain_open(*attempt);
  if (!same_class) text += "; its priority was changed: " + when_planned(plan, now);
  return text;
}

// Whether the item waits as it did when it was planned.
bool waits_as_planned(const db::Item& item, const PublishedPlan& plan, const Decision& decision) {
  if (decision.priority != item.priority) return false;
  const bool unread = item.micrograph_ctime_ns == 0;
  switch (plan.plan.reasons.at(decision.reason).why) {
    case Why::kTurn:
    case Why::kFloor:
    case Why::kProbe:
    case Why::kQueue:
    case Why::kHold:
      return !unread;
    case Why::kUnread:
      return unread;
    case Why::kRetry:  // its time has come
    case Why::kHeld:
    case Why::kCancelled:
    case Why::kRuns:
    case Why::kStops:
    case Why::kWidens:
      return false;
  }
  return false;
}

std::string explain_queued(const db::Item& item, const PublishedPlan* plan, int64_t now) {
  if (item.not_before > now) return retry_text(item.not_before - now);
  const Decision* decision = decision_of(item, plan);
  if (decision != nullptr && waits_as_planned(item, *plan, *decision)) {
    const std::string text = sentence(plan->plan, *decision);
    return is_late(*plan, now) ? text + "; the plan is " + age_of(*plan, now) : text;
  }
  if (item.micrograph_ctime_ns == 0) return kBeingRead;
  return "not planned yet: " + when_planned(plan, now);
}

// Rounded up: "119 seconds", "45 minutes", "2 h 05 min", "3 d 4 h".
std::string late_text(int64_t seconds) {
  const auto in = [&](int64_t unit) { return (seconds + unit - 1) / unit; };
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  if (seconds < 2 * kMinute) return base::counted(seconds, "second");
  if (seconds < 2 * kHour) return base::counted(in(kMinute), "minute");
  const int64_t minutes = in(kMinute);
  const std::string rest = (minutes % 60 < 10 ? "0" : "") + std::to_string(minutes % 60);
  if (seconds < 48 * kHour) return std::to_string(minutes / 60) + " h " + rest + " min";
  return std::to_string(in(kHour) / 24) + " d " + std::to_string(in(kHour) % 24) + " h";
}

// With 90 % certainty; 0: not known.
int64_t done_if_started_now(const db::Item& item, const PublishedPlan* plan, int64_t now) {
  if (plan == nullptr) return 0;
  if (const Outlook* outlook = plan->outlook_of(item.id)) return outlook->done_by;
  const auto has_size = [&](const SearchKind& kind) {
    return kind.image_width == item.micrograph_size.width &&
           kind.image_height == item.micrograph_size.height;
  };
  int64_t seconds = 0;
  for (const FastestSearch& fastest : plan->plan.fastest) {
    if (fastest.kind.template_id != item.template_id) continue;
    const int64_t of_kind = fastest.seconds.at(static_cast<size_t>(item.priority));
    if (has_size(fastest.kind)) return of_kind == 0 ? 0 : now + of_kind;
    seconds = std::max(seconds, of_kind);
  }
  return seconds == 0 ? 0 : now + seconds;
}

std::string what_to_do(const db::Item& item) {
  const std::string id = std::to_string(item.id);
  const std::string later = "set a later deadline (margay finish-by " + id + " --time TIME)";
  if (item.state == db::ItemState::kActive || item.priority <= db::Priority::kUrgent) return later;
  const std::string next = db::to_string(
      item.priority == db::Priority::kHigh ? db::Priority::kUrgent : db::Priority::kHigh);
  return "promote it (margay promote " + id + " --priority " + next +
         "), which may give it more GPUs, or " + later;
}

// Empty without a deadline, and for an item that may meet it.
std::string explain_deadline(const db::Item& item, const PublishedPlan* plan, int64_t now) {
  if (item.finish_by == 0 || has_ended(item.state)) return "";
  const Outlook* outlook = plan == nullptr ? nullptr : plan->outlook_of(item.id);
  const bool is_known = done_if_started_now(item, plan, now) > 0;
  if (const auto late = late_by(item, plan, now)) {
    const std::string by = late_text(*late);
    const auto expected = expected_times(item, plan);
    if (expected && expected->done == item.finish_by + *late) {
      return "; AT RISK: it is expected to be done " + by + " after its deadline; " +
             what_to_do(item);
    }
    if (!is_known) {
      return "; AT RISK: its deadline passed " + by + " ago; " + what_to_do(item);
    }
    const bool waits = item.state != db::ItemState::kActive;
    return "; AT RISK: may be done up to " + by + " after its deadline" +
           (waits ? " even if it starts now; " : "; ") + what_to_do(item);
  }
  if (outlook == nullptr || is_known) return "";
  return "; whether it meets its deadline is not known, since it is not known how long its search "
         "takes";
}

std::string explain_state(const db::Item& item, const db::Attempt* attempt,
                          const PublishedPlan* plan, int64_t now) {
  switch (item.state) {
    case db::ItemState::kQueued:
      return explain_queued(item, plan, now);
    case db::ItemState::kHeld:
      return held_text(item.id);
    case db::ItemState::kActive:
      return explain_active(item, attempt, plan, now);
    case db::ItemState::kDone:
    case db::ItemState::kFailed:
    case db::ItemState::kCancelled:
    case db::ItemState::kQuarantined:
      return item.reason;
  }
  return item.reason;
}

}  // namespace

const Outlook* PublishedPlan::outlook_of(int64_t item_id) const {
  const auto found =
      std::lower_bound(plan.outlooks.begin(), plan.outlooks.end(), item_id,
                       [](const Outlook& one, int64_t wanted) { return one.item_id < wanted; });
  return found == plan.outlooks.end() || found->item_id != item_id ? nullptr : &*found;
}

std::optional<int64_t> late_by(const db::Item& item, const PublishedPlan* plan, int64_t now) {
  if (item.finish_by == 0 || has_ended(item.state)) return std::nullopt;
  const auto expected = expected_times(item, plan);
  const int64_t done_by =
      std::max({now, done_if_started_now(item, plan, now), expected ? expected->done : 0});
  return done_by > item.finish_by ? std::optional(done_by - item.finish_by) : std::nullopt;
}

std::optional<ExpectedTimes> expected_times(const db::Item& item, const PublishedPlan* plan) {
  const Decision* decision = decision_of(item, plan);
  if (decision == nullptr || decision->done_in < 0) return std::nullopt;
  const bool waits = item.state == db::ItemState::kQueued;
  const bool as_planned =
      waits ? waits_as_planned(item, *plan, *decision)
            : item.state == db::ItemState::kActive && decision->priority == item.priority;
  if (!as_planned || item.cancel_requested) return std::nullopt;
  const int64_t made = plan->plan.made;
  return ExpectedTimes{.start = made + decision->starts_in, .done = made + decision->done_in};
}

std::optional<ItemForecast> forecast_of(const db::Item& item, const db::Attempt* attempt,
                                        const PublishedPlan* plan) {
  if (!expected_times(item, plan)) return std::nullopt;
  const bool runs = attempt != nullptr && attempt->state == db::AttemptState::kRunning;
  return forecast_item(plan->plan, *plan->find(item.id),
                       {.finish_by = item.finish_by,
                        .asks = std::make_shared<const ItemAsks>(
                            asks_of(item.priority, item.options, plan->plan.limits)),
                        .started = runs ? attempt->started : 0});
}

ExpectedQueue expected_queue(const PublishedPlan* plan) {
  if (plan == nullptr) return {};
  const QueueForecast& queue = plan->plan.queue;
  return {.done = queue.done_in < 0 ? 0 : plan->plan.made + queue.done_in,
          .unknown = queue.unknown};
}

const Decision* PublishedPlan::find(int64_t item_id) const {
  const auto found =
      std::lower_bound(plan.decisions.begin(), plan.decisions.end(), item_id,
                       [](const Decision& one, int64_t wanted) { return one.item_id < wanted; });
  return found == plan.decisions.end() || found->item_id != item_id ? nullptr : &*found;
}

// The last one is freed after the lock.
void PlanBoard::publish(LastPlan plan) {
  const std::scoped_lock lock(mutex_);
  last_.swap(plan);
}

LastPlan PlanBoard::last() const {
  const std::scoped_lock lock(mutex_);
  return last_;
}

std::string explain_item(const db::Item& item, const db::Attempt* attempt,
                         const PublishedPlan* plan, int64_t now) {
  return explain_state(item, attempt, plan, now) + explain_deadline(item, plan, now);
}

}  // namespace scheduler
