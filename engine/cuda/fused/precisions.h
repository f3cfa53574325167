// What backend.cpp chooses from: one file for each kind of storage, which compiles its kernels.
#pragma once

#include <memory>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"

namespace engine::cuda {

FusedKernels single_kernels();
std::unique_ptr<Backend> make_single_backend(const Problem& problem, const MemoryPlan& plan,
                                             int number);

FusedKernels half_storage_kernels();
std::unique_ptr<Backend> make_half_storage_backend(const Problem& problem, const MemoryPlan& plan,
                                                   int number);

FusedKernels half_arithmetic_kernels();
std::unique_ptr<Backend> make_half_arithmetic_backend(const Problem& problem,
                                                      const MemoryPlan& plan, int number);

}  // namespace engine::cuda
