// The CPU's fused path: only the template's rows are transformed forward; columns go forward,
// through the product and back while they lie in the cache; the last rows are transformed and
// added to the statistics at once. Any size, by padding.
#pragma once

#include <memory>
#include <string>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"

namespace engine::cpu::fused {

// As cpu::plan_memory does for the other path, but shrinks the batch before the transforms in
// flight, as far as every thread still has a projection to make; without a batch that was asked for
// also to stay within 2 GB (docs/cpu.md, Memory), unless that cannot be reached.
MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit = 0);

// `problem` must outlive the backend. Throws Error when the system refuses the threads.
std::unique_ptr<Backend> make_backend(const Problem& problem, const MemoryPlan& plan);

// What the image is padded to: "4096 x 4096".
std::string describe_lengths(const ProblemShape& shape);

// Name of the instruction set in use, and how many lanes its vectors have here.
std::string instruction_set();
int vector_width();

}  // namespace engine::cpu::fused
