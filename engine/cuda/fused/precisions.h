// What backend.cpp chooses from. Each kind of storage (layout.cuh) is compiled in a file of its own
// (fp32.cu, fp16.cu), since its kernels take long to compile.
#pragma once

#include <memory>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"

namespace engine::cuda {

struct SingleStorage;
struct HalfArithmetic;

// What this build has for the storage, as `precision`.
template <typename Storage>
FusedKernels compiled_kernels(Precision precision);

// As make_fused_backend.
template <typename Storage>
std::unique_ptr<Backend> make_storage_backend(const Problem& problem, const MemoryPlan& plan,
                                              int number);

}  // namespace engine::cuda
