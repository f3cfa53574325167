// cuFFT, which is opened together with the first device, since not every machine that runs this
// program has it.
#pragma once

#include <cufft.h>

#include "engine/cuda/shared_library.h"

namespace engine::cuda {

// Returns where to look for cuFFT. The functions that we use are the same in CUDA 12 and 13.
LibrarySearch cufft_search();

// The functions that we use, by cuFFT's names without their prefix.
struct TransformLibrary {
  // Opens cuFFT. Throws Error(kDeviceFault) where there is none.
  TransformLibrary();

  decltype(&cufftGetVersion) get_version = nullptr;
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
  decltype(&cufftGetSizeMany64) get_size_many = nullptr;
  decltype(&cufftMakePlanMany64) make_plan_many = nullptr;
  decltype(&cufftSetAutoAllocation) set_auto_allocation = nullptr;
  decltype(&cufftSetWorkArea) set_work_area = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecC2C) exec_c2c = nullptr;
  decltype(&cufftExecC2R) exec_c2r = nullptr;
};

}  // namespace engine::cuda
