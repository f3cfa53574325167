// The CPU's fused path. It transforms only the template's own rows forward; each column is then
// transformed, multiplied and transformed back while it is in the cache; rows are transformed back
// and added to the statistics at once. Padding makes it work for any size.
#pragma once

#include <memory>
#include <string>

#include "engine/backend/backend.h"
#include "engine/cpu/cpu_backend.h"

namespace engine::cpu::fused {

// Plans a search as cpu::plan_memory() does for the reference path, but with the largest groups of
// transforms that the memory allows, as long as every thread has a projection to make. Where
// options.batch is 0 it also stays within options.memory if it can (docs/cpu.md, Memory).
MemoryPlan plan_memory(const ProblemShape& shape, const CpuOptions& options, uint64_t limit = 0);

// `problem` must outlive the backend. Throws Error when the system refuses the threads.
std::unique_ptr<Backend> make_backend(const Problem& problem, const MemoryPlan& plan);

// Returns the size to which the image is padded, in pixels: "4096 x 4096".
std::string describe_lengths(const ProblemShape& shape);

// The name of the instruction set in use, and the number of floats in its vectors here.
std::string instruction_set();
int vector_width();

}  // namespace engine::cpu::fused
