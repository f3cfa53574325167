// A plan while it is made: each reason and each text is in it about once, however many items have
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "scheduler/policy/plan.h"

namespace scheduler {

class PlanDraft {
 public:
  // `number` is a decision's in the plan. The reference holds until another decision is added.
  Decision& decide(size_t number, Verdict verdict, const Reason& reason);

  // Returns its number in the plan.
  int add_text(const std::string& text);
  // The same for a text of the snapshot, which many items wait for; null: -1. Texts differ
  // where their addresses do.
  int text_number(const std::string* text);

  Plan plan;

 private:
  uint32_t number_of_reason(const Reason& reason);

  std::unordered_map<const std::string*, int> texts_;
};

}  // namespace scheduler
