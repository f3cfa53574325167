#include "engine/cuda/cufft_library.h"

#include <string>

namespace engine::cuda {

LibrarySearch cufft_search() {
  // The one that this program was compiled with first.
  const std::string own = "libcufft.so." + std::to_string(CUFFT_VER_MAJOR);
  LibrarySearch search{
      .what = "cuFFT",
      .names = {own},
      .folders = {MARGAY_CUDA_LIBRARY_FOLDER, "/usr/local/cuda/lib64",
                  "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/cuda-13/lib64",
                  "/usr/local/cuda-12/lib64", "/opt/cuda/lib64"},
      .remedy =
          "install cuFFT, which is in the CUDA toolkit, or name the folder that has it in "
          "LD_LIBRARY_PATH; to search on the processor, use --backend cpu"};
  for (const char* other : {"libcufft.so.12", "libcufft.so.11"}) {
    if (other != own) search.names.emplace_back(other);
  }
  return search;
}

TransformLibrary::TransformLibrary() {
  const SharedLibrary library(cufft_search());
  library.find("cufftGetVersion", get_version);
  library.find("cufftCreate", create);
  library.find("cufftDestroy", destroy);
  library.find("cufftGetSizeMany64", get_size_many);
  library.find("cufftMakePlanMany64", make_plan_many);
  library.find("cufftSetAutoAllocation", set_auto_allocation);
  library.find("cufftSetWorkArea", set_work_area);
  library.find("cufftSetStream", set_stream);
  library.find("cufftExecC2C", exec_c2c);
  library.find("cufftExecC2R", exec_c2r);
}

}  // namespace engine::cuda
