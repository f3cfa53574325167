// The reference backend: FFTW, all cores, plain passes over rows and columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/backend.h"

namespace engine::cpu {

struct CpuOptions {
  int threads = 0;  // 0: every core this process may use
  int batch = 0;    // units in flight; 0: chosen
};

// Cores this process may run on.
int available_cores();

struct ProblemShape {
  int height = 0, width = 0, template_size = 0, planes = 0;
  bool complex_filters = false;
};

// What the backend is going to allocate, the problem's own arrays included.
struct MemoryPlan {
  std::vector<MemoryItem> items;
  int threads = 1;
  int batch = 1;       // units
  int transforms = 1;  // correlation pairs held between the column and the row pass
  uint64_t total() const;
};
MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options);

// `problem` must outlive the backend.
std::unique_ptr<Backend> make_cpu_backend(const Problem& problem, const CpuOptions& options);

}  // namespace engine::cpu
