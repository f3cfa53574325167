// A test on every instruction set that this processor and this build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <set>
#include <string>

#include "engine/cpu/fused/backend.h"

namespace engine::cpu::fused {

template <typename Test>
void on_every_instruction_set(const Test& test) {
  std::set<std::string> tried;
  for (int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    // Those that the fused path does without fall back to another.
    const std::string name = instruction_set() + " of " + std::to_string(vector_width());
    if (!tried.insert(name).second) continue;
    SCOPED_TRACE(name);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_FALSE(tried.empty());
}

}  // namespace engine::cpu::fused
