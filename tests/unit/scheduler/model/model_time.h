// Virtual time of the model tests.
#pragma once

#include <cstdint>

namespace tests {

// Where virtual time begins: milliseconds since the epoch, as FakeClock's.
inline constexpr int64_t kModelStartMs = 1'700'000'000'000;

}  // namespace tests
