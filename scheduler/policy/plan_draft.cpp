#include "scheduler/policy/plan_draft.h"

#include <algorithm>
#include <vector>

namespace scheduler {

Decision& PlanDraft::decide(size_t number, Verdict verdict, const Reason& reason) {
  Decision& decision = plan.decisions[number];
  decision.verdict = verdict;
  decision.reason = number_of_reason(reason);
  return decision;
}

// The same reasons come one behind another, or in turn where the items of several kinds do.
uint32_t PlanDraft::number_of_reason(const Reason& reason) {
  constexpr size_t kLookedAt = 16;
  std::vector<Reason>& reasons = plan.reasons;
  for (size_t back = 1; back <= std::min(kLookedAt, reasons.size()); ++back) {
    const size_t number = reasons.size() - back;
    if (reasons[number] == reason) return static_cast<uint32_t>(number);
  }
  reasons.push_back(reason);
  return static_cast<uint32_t>(reasons.size() - 1);
}

int PlanDraft::add_text(const std::string& text) {
  plan.texts.push_back(text);
  return static_cast<int>(plan.texts.size()) - 1;
}

int PlanDraft::text_number(const std::string* text) {
  if (text == nullptr) return -1;
  const auto [known, is_new] = texts_.try_emplace(text, 0);
  if (is_new) known->second = add_text(*text);
  return known->second;
}

}  // namespace scheduler
