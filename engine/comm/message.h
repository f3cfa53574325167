// The message that a connection between two ranks carries, and the type of its deadlines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine::comm {

using Deadline = std::chrono::steady_clock::time_point;

constexpr size_t kMaxMessage = size_t{64} << 20;  // bytes of a body

struct Message {
  uint32_t kind = 0;
  std::vector<std::byte> body;
};

}  // namespace engine::comm
