// The interface of the fused path to the rest of the engine. Its kernels are compiled in one file
// for each precision (fp32.cu, fp16.cu). In a build without CUDA unavailable.cpp implements it.
#pragma once

#include <memory>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"

namespace engine::cuda {

// Returns this build's kernels for `precision`; without lengths where it has none.
FusedKernels fused_kernels(Precision precision);

// `plan` must come from plan_fused_memory(), and `problem` must outlive the backend. Throws Error
// as make_cuda_backend() does.
std::unique_ptr<Backend> make_fused_backend(const Problem& problem, const MemoryPlan& plan,
                                            int number);

}  // namespace engine::cuda
