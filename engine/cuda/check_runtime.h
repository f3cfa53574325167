// Turns error codes of the CUDA runtime into Errors.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace engine::cuda {

// Throws the Error of describe_fault() where `code` is not success. `activity` and `device` are as
// in FaultReport.
void check_runtime(cudaError_t code, const std::string& activity, const std::string& device = "");

}  // namespace engine::cuda
