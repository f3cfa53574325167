// Implements backend.h in a build without CUDA: no length is compiled.
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/fused/backend.h"

namespace engine::cuda {

FusedKernels fused_kernels(Precision precision) { return {.precision = precision, .lengths = {}}; }

std::unique_ptr<Backend> make_fused_backend(const Problem&, const MemoryPlan&, int number) {
  require_device(number);
  return nullptr;
}

}  // namespace engine::cuda
