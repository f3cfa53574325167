// Computes how many blocks of a kernel are on a multiprocessor at once, and how much of its L1
// cache they need as shared memory. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace engine::cuda {

// The resources of a multiprocessor for all of its blocks.
struct Multiprocessor {
  uint64_t shared_bytes = 0;    // with the smallest possible L1 cache
  uint64_t reserved_bytes = 0;  // part of them that the system takes for each block
  int registers = 0;
  int threads = 0;
  int blocks = 0;
};

// The resources that a block needs.
struct BlockNeeds {
  uint64_t shared_bytes = 0;
  int threads = 0;
  int registers = 0;  // of each thread
};

// Returns how many blocks fit by registers, threads and shared memory, with nothing else on the
// multiprocessor.
int resident_blocks(const Multiprocessor& has, const BlockNeeds& block);

// Returns the percentage of `has.shared_bytes` that the resident blocks use; the rest is cache.
// Returns nullopt for fewer than two blocks, since one block always gets what it needs, and where
// they use no shared memory.
std::optional<int> shared_percent(const Multiprocessor& has, const BlockNeeds& block);

}  // namespace engine::cuda
