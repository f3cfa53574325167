// The reference backend, with which every other one is compared: FFTW (in a build without it, and
// so only in tests, kissfft) on all cores, in plain passes over rows and columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"

namespace engine::cpu {

// Bytes within which a search is planned unless it may use more.
constexpr uint64_t kUsualMemory = 2'000'000'000;

struct CpuOptions {
  int threads = 0;  // 0: every core this process may use
  int batch = 0;    // units in flight; 0: automatic
  // Bytes within which the fused path chooses its batch and groups, if it can; less than
  // kUsualMemory counts as that. The FFTW path ignores it.
  uint64_t memory = kUsualMemory;
};

// The memory that a search on this backend needs, including the problem's own arrays.
struct MemoryPlan {
  std::vector<MemoryItem> items;
  int threads = 1;
  int batch = 1;       // units
  int transforms = 1;  // correlation pairs held between the column and the row pass
  uint64_t total() const;
};
// Plans a search. Reduces the transforms in flight, then the batch, to stay within `limit` bytes
// (0: no limit); the smallest plan may still be larger.
MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit = 0);

// `problem` must outlive the backend. Throws Error when the system refuses the threads.
std::unique_ptr<Backend> make_cpu_backend(const Problem& problem, const MemoryPlan& plan);

// Returns the processor's model, or "unknown processor".
std::string processor_name();

}  // namespace engine::cpu
