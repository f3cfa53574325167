#include "engine/cuda/fused/backend.h"

#include "engine/cuda/fused/precisions.h"

namespace engine::cuda {

FusedKernels fused_kernels(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return compiled_kernels<SingleStorage>(precision);
    case Precision::kFp16:
      return compiled_kernels<HalfArithmetic>(precision);
  }
  return {};
}

std::unique_ptr<Backend> make_fused_backend(const Problem& problem, const MemoryPlan& plan,
                                            int number) {
  switch (plan.precision) {
    case Precision::kFp32:
      return make_storage_backend<SingleStorage>(problem, plan, number);
    case Precision::kFp16:
      return make_storage_backend<HalfArithmetic>(problem, plan, number);
  }
  return nullptr;
}

}  // namespace engine::cuda
