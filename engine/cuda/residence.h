// How many blocks of a kernel are on a multiprocessor at once, and the share of its L1 cache that
// they want as shared memory. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace engine::cuda {

// What a multiprocessor has for all of its blocks.
struct Multiprocessor {
  uint64_t shared_bytes = 0;    // where the L1 cache keeps as little as it can
  uint64_t reserved_bytes = 0;  // of them, that the system takes for each block
  int registers = 0;
  int threads = 0;
  int blocks = 0;
};

// What a block takes.
struct BlockNeeds {
  uint64_t shared_bytes = 0;
  int threads = 0;
  int registers = 0;  // of each thread
};

// By registers, threads and shared memory, where all of that is the blocks'.
int resident_blocks(const Multiprocessor& has, const BlockNeeds& block);

// In percent of `has.shared_bytes`, what the resident blocks use: the rest is cache. Nothing where
// they are fewer than two, since one block always gets its own, or use no shared memory.
std::optional<int> shared_percent(const Multiprocessor& has, const BlockNeeds& block);

}  // namespace engine::cuda
