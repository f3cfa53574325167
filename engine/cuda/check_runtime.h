// Turns error codes of the CUDA runtime into Errors.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace engine::cuda {

// Throws what describe_fault makes of a code that is not success. `device` as in FaultReport.
void check_runtime(cudaError_t code, const std::string& activity, const std::string& device = "");

}  // namespace engine::cuda
