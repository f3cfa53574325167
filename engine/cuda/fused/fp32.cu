// The fused path in single precision.
#include "engine/cuda/fused/storage_backend.cuh"

namespace engine::cuda {

template FusedKernels compiled_kernels<SingleStorage>(Precision);
template std::unique_ptr<Backend> make_storage_backend<SingleStorage>(const Problem&,
                                                                      const MemoryPlan&, int);

}  // namespace engine::cuda
