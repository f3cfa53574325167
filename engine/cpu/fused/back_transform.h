// The projections of the fused path.
#pragma once

#include <memory>

#include "engine/cpu/back_transform.h"

namespace engine::cpu::fused {

// With the passes of the fused path where n has factors (lengths.h), else the plain one.
std::unique_ptr<BackTransform> make_back_transform(int n, int threads);

}  // namespace engine::cpu::fused
