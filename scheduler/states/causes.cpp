#include "scheduler/states/causes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scheduler {
namespace {

using db::AttemptState;
using db::ItemState;
using std::chrono::milliseconds;

constexpr int kUnlimited = -1;

// By cause: how many further tries, whether they are spaced, and what an item without any becomes.
struct CauseRule {
  const char* cause;
  int retries;
  bool spaced;
  bool free_first;  // the first retry does not wait
  ItemState exhausted;
  const char* says;
  const char* gives_up = nullptr;  // added when no try is left
};

constexpr const char* kUnknown = "unknown";
constexpr const char* kTooShort = "the time limit is too short for any progress";

constexpr CauseRule kRules[] = {
    {"preempted", kUnlimited, true, true, ItemState::kFailed, "preempted"},
    {"node_failed", kUnlimited, true, true, ItemState::kFailed, "its machine failed or restarted"},
    {"vanished", kUnlimited, true, true, ItemState::kFailed, "its job vanished from the cluster"},
    {"never_started", kUnlimited, true, true, ItemState::kFailed, "its job was never started"},
    {"disk_full", kUnlimited, true, false, ItemState::kFailed, "the disk is full"},
    {"hardware", 3, true, true, ItemState::kFailed, "the device failed"},
    {"timeout", 2, false, false, ItemState::kFailed, "it ran into its time limit", kTooShort},
    {"timeout_with_progress", kUnlimited, false, false, ItemState::kFailed,
     "it ran into its time limit"},
    {"device_memory", 2, false, false, ItemState::kFailed, "the device's memory was too small"},
    {"memory", 2, false, false, ItemState::kFailed, "it ran out of memory"},
    {"launch", 5, true, false, ItemState::kFailed, "it could not be launched"},
    {"claimed", 5, true, false, ItemState::kFailed, "another run of its script held the claim"},
    {kCheckpointCause, kUnlimited, false, false, ItemState::kFailed,
     "its checkpoint cannot be used"},
    {"input_away", kUnlimited, true, false, ItemState::kFailed, "its input cannot be reached"},
    {"jobs_away", kUnlimited, true, false, ItemState::kFailed, "its folder could not be reached"},
    {kBadInputCause, 0, false, false, ItemState::kQuarantined, "bad input"},
    {"engine_bug", 0, false, false, ItemState::kQuarantined, "the engine crashed"},
    {kUnknown, 1, true, false, ItemState::kFailed, "it failed for an unknown reason"},
    {kStalled, 3, true, true, ItemState::kFailed, "its search stalled"},
    {"stopped_early", 3, true, true, ItemState::kFailed, "it was stopped before it got any further",
     kTooShort},
    {"busy", kUnlimited, false, false, ItemState::kFailed, "the cluster takes no more jobs now"},
    {"own_limit", kUnlimited, false, false, ItemState::kFailed,
     "the cluster does not take what its own options ask for now"},
    {"configuration", kUnlimited, false, false, ItemState::kFailed,
     "the cluster does not take the site's jobs"},
    {kRaiseRefused, kUnlimited, false, false, ItemState::kFailed,
     "the cluster does not give it more time or memory than before"},
    {"options", 0, false, false, ItemState::kFailed,
     "the cluster cannot give it what its options ask for"},
};

const CauseRule& rule_of(const std::string& cause) {
  for (const CauseRule& rule : kRules) {
    if (cause == rule.cause) return rule;
  }
  return rule_of(kUnknown);
}

milliseconds spacing(const CauseRule& rule, int earlier, const RetryRules& rules) {
  if (!rule.spaced) return milliseconds{0};
  int doublings = earlier;
  if (rule.free_first) {
    if (earlier == 0) return milliseconds{0};
    --doublings;
  }
  milliseconds wait = rules.first;
  for (; doublings > 0 && wait < rules.longest; --doublings) wait *= 2;
  return std::min(wait, rules.longest);
}

std::string tries_left(const CauseRule& rule, int earlier) {
  if (rule.retries == kUnlimited) return "will be retried";
  return "will be retried (" + std::to_string(earlier + 1) + " of " + std::to_string(rule.retries) +
         ")";
}

// 1.5 for each of these failures, up to a limit, unless the cluster has refused more.
double raised_after(const Failures& failures, const std::vector<const char*>& causes) {
  constexpr int kMost = 4;
  if (failures.count(kRaiseRefused) != 0) return 1;
  int times = 0;
  for (const char* cause : causes) {
    const auto found = failures.find(cause);
    if (found != failures.end()) times += found->second;
  }
  return std::pow(1.5, std::min(times, kMost));
}

}  // namespace

Outcome ended(AttemptState state, const std::string& cause, const std::string& message,
              const Past& past) {
  const CauseRule& rule = rule_of(cause);
  const auto known = past.failures.find(cause);
  const int earlier = known == past.failures.end() ? 0 : known->second;
  Outcome outcome{.attempt = state, .cause = cause, .message = message};
  std::string says = rule.says;
  if (!message.empty())
    says = (std::string(rule.cause) == kUnknown ? "it failed" : says) + ": " + message;
  if (rule.retries == kUnlimited || earlier < rule.retries) {
    outcome.item = ItemState::kQueued;
    outcome.reason = says + "; " + tries_left(rule, earlier);
    outcome.wait = spacing(rule, earlier, past.rules);
  } else {
    outcome.item = rule.exhausted;
    outcome.reason = says;
    if (earlier > 0) outcome.reason += " (" + std::to_string(earlier + 1) + " times)";
    if (rule.gives_up != nullptr) outcome.reason += std::string("; ") + rule.gives_up;
  }
  return outcome;
}

Outcome paused(Outcome outcome, SiteFault fault, const std::string& why,
               const std::string& advice) {
  outcome.site_fault = fault;
  outcome.pause_reason = why + outcome.message + advice;
  return outcome;
}

double time_factor(const Failures& failures) {
  return raised_after(failures, {"timeout", "timeout_with_progress", "stopped_early"});
}

double memory_factor(const Failures& failures) { return raised_after(failures, {"memory"}); }

}  // namespace scheduler
