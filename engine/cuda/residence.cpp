#include "engine/cuda/residence.h"

#include <algorithm>

namespace engine::cuda {
namespace {

constexpr int kWarp = 32;
// The registers are a warp's in these pieces, and lie in quarters with warps of their own.
constexpr int kRegistersAtOnce = 256;
constexpr int kQuarters = 4;

int divided_up(int number, int by) { return (number + by - 1) / by; }

uint64_t shared_of_block(const Multiprocessor& has, const BlockNeeds& block) {
  return block.shared_bytes + has.reserved_bytes;
}

}  // namespace

int resident_blocks(const Multiprocessor& has, const BlockNeeds& block) {
  const int warps = divided_up(block.threads, kWarp);
  if (warps == 0) return 0;
  int blocks = std::min(has.blocks, has.threads / (warps * kWarp));
  if (block.registers > 0) {
    const int of_warp = divided_up(block.registers * kWarp, kRegistersAtOnce) * kRegistersAtOnce;
    blocks = std::min(blocks, has.registers / kQuarters / of_warp * kQuarters / warps);
  }
  if (const uint64_t shared = shared_of_block(has, block); shared > 0) {
    blocks = static_cast<int>(std::min(static_cast<uint64_t>(blocks), has.shared_bytes / shared));
  }
  return blocks;
}

std::optional<int> shared_percent(const Multiprocessor& has, const BlockNeeds& block) {
  const int blocks = resident_blocks(has, block);
  if (blocks < 2 || block.shared_bytes == 0) return std::nullopt;
  const uint64_t used = static_cast<uint64_t>(blocks) * shared_of_block(has, block);
  return static_cast<int>((100 * used + has.shared_bytes - 1) / has.shared_bytes);
}

}  // namespace engine::cuda
