#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/cuda_backend.h"
#include "engine/error.h"
#include "tests/require.h"

namespace tests {
namespace {

TEST(DeviceIdentityOnGpu, IsKnownAndTheSameEachTime) {
  try {
    engine::cuda::require_device(0);
  } catch (const engine::Error& error) {
    MARGAY_SKIP_FOR_WANT_OF("gpu", error.what());
  }
  const std::string identity = engine::cuda::device_identity(0);
  EXPECT_THAT(identity,
              testing::MatchesRegex("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
  EXPECT_EQ(engine::cuda::device_identity(0), identity);
}

TEST(DeviceIdentityOnGpu, OfADeviceThatIsNotThereIsNotKnown) {
  EXPECT_EQ(engine::cuda::device_identity(engine::cuda::visible_devices()), "");
}

}  // namespace
}  // namespace tests
