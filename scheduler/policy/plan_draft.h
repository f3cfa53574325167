// A plan under construction: each reason and each text is stored about once, however many items
// have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "scheduler/policy/plan.h"

namespace scheduler {

class PlanDraft {
 public:
  // Adds the decision with this number in the plan. The reference is valid until another decision
  // is added.
  Decision& decide(size_t number, Verdict verdict, const Reason& reason);

  // Adds the text and returns its number in the plan.
  int add_text(const std::string& text);
  // The number of a text of the snapshot, which many items wait for; null: -1. Texts are compared
  // by address.
  int text_number(const std::string* text);

  Plan plan;

 private:
  uint32_t number_of_reason(const Reason& reason);

  std::unordered_map<const std::string*, int> texts_;
};

}  // namespace scheduler
