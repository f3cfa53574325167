// The fused path with fp16 in memory and in the arithmetic.
#include "engine/cuda/fused/storage_backend.cuh"

namespace engine::cuda {

template FusedKernels compiled_kernels<HalfArithmetic>(Precision);
template std::unique_ptr<Backend> make_storage_backend<HalfArithmetic>(const Problem&,
                                                                       const MemoryPlan&, int);

}  // namespace engine::cuda
