// The backends from which backend.cpp chooses. Each kind of storage (layout.cuh) is compiled in its
// own file (fp32.cu, fp16.cu), since its kernels take long to compile.
#pragma once

#include <memory>

#include "engine/backend/backend.h"
#include "engine/cuda/cuda_memory.h"

namespace engine::cuda {

struct SingleStorage;
struct HalfArithmetic;

// Returns this build's kernels for the storage, which are those of `precision`.
template <typename Storage>
FusedKernels compiled_kernels(Precision precision);

// Does what make_fused_backend() does for one storage.
template <typename Storage>
std::unique_ptr<Backend> make_storage_backend(const Problem& problem, const MemoryPlan& plan,
                                              int number);

}  // namespace engine::cuda
