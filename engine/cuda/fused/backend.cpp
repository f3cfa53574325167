#include "engine/cuda/fused/backend.h"

#include "engine/cuda/fused/precisions.h"

namespace engine::cuda {

FusedKernels fused_kernels(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return single_kernels();
    case Precision::kFp16Storage:
      return half_storage_kernels();
    case Precision::kFp16:
      return half_arithmetic_kernels();
  }
  return {};
}

std::unique_ptr<Backend> make_fused_backend(const Problem& problem, const MemoryPlan& plan,
                                            int number) {
  switch (plan.precision) {
    case Precision::kFp32:
      return make_single_backend(problem, plan, number);
    case Precision::kFp16Storage:
      return make_half_storage_backend(problem, plan, number);
    case Precision::kFp16:
      return make_half_arithmetic_backend(problem, plan, number);
  }
  return nullptr;
}

}  // namespace engine::cuda
