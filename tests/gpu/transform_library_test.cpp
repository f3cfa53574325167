// cuFFT as this machine has it. Needs no device.
#include <gtest/gtest.h>

#include <optional>

#include "engine/cuda/cufft_library.h"
#include "engine/error.h"
#include "tests/require.h"

namespace tests {
namespace {

TEST(CudaTransformLibrary, HasEveryFunctionThatWeUse) {
  std::optional<engine::cuda::SharedLibrary> library;
  try {
    library.emplace(engine::cuda::cufft_search());
  } catch (const engine::Error& error) {
    MARGAY_SKIP_FOR_WANT_OF("gpu", error.what());
  }
  const engine::cuda::TransformLibrary transforms;
  int version = 0;
  EXPECT_EQ(transforms.get_version(&version), CUFFT_SUCCESS);
  EXPECT_GE(version, 11000);
}

}  // namespace
}  // namespace tests
