// Whole searches on a real device.
#include "engine/cuda/device_words.cuh"
//
#include "engine/search/device.h"
#include "engine/search/selftest.h"
#include "tests/gpu/on_gpu.h"
#include "tests/unit/engine/cuda/search_cases.h"

namespace tests {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(OnAGpu, CudaSearch, OnGpu);

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = OnGpu::missing();
    if (!missing.empty()) MARGAY_SKIP_FOR_WANT_OF("gpu", missing);
  }
};

TEST_F(Gpu, FindsWhatWasPlantedInACropMadeFromAtoms) {
  const engine::SelftestResult result = engine::run_selftest(MARGAY_TEST_DATA, {.backend = "cuda"});
  EXPECT_TRUE(result.passed) << testing::PrintToString(result.lines);
}

TEST_F(Gpu, ThatIsTooSmallIsSaidBeforeTheSearchWithAnExitCodeOfItsOwn) {
  try {
    engine::plan_device({200000, 200000, 1024, 1, 1000}, {.backend = "cuda"});
    FAIL() << "a search of terabytes was accepted";
  } catch (const engine::Error& error) {
    EXPECT_EQ(error.code(), engine::ExitCode::kDeviceMemory);
    EXPECT_NE(std::string(error.what()).find("device memory"), std::string::npos) << error.what();
  }
}

TEST_F(Gpu, ThatIsFullIsNamedWithWhatWasAskedOfIt) {
  const auto device = OnGpu::make();
  try {
    const OnGpu::Device::Buffer<char> all(*device, "the test", size_t{1} << 46);
    FAIL() << "no device has so much memory";
  } catch (const engine::Error& error) {
    EXPECT_EQ(error.code(), engine::ExitCode::kDeviceMemory);
    EXPECT_NE(std::string(error.what()).find("for the test"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("device 0, "), std::string::npos) << error.what();
  }
}

TEST_F(Gpu, ThatIsNotThereIsADeviceFault) {
  try {
    engine::choose_backend("cuda", 1000);
    FAIL() << "device 1000 was found";
  } catch (const engine::Error& error) {
    EXPECT_EQ(error.code(), engine::ExitCode::kDeviceFault);
    EXPECT_NE(std::string(error.what()).find("device 1000"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tests
