#include "engine/ranks/shared_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(RankDevices, RanksWithDevicesOfTheirOwnAreLeftAlone) {
  EXPECT_EQ(shared_device({}), "");
  EXPECT_EQ(shared_device({{0, "n1", "GPU-a"}, {1, "n1", "GPU-b"}, {2, "n2", "GPU-c"}}), "");
}

TEST(RankDevices, RanksThatShareADeviceAreNamedWithHostDeviceAndWhatToDo) {
  EXPECT_THAT(shared_device(
                  {{0, "n1", "GPU-a"}, {1, "n2", "GPU-b"}, {2, "n1", "GPU-c"}, {3, "n2", "GPU-b"}}),
              AllOf(StartsWith("rank 1 on n2 and rank 3 on n2 have the same device, GPU-b: "),
                    HasSubstr("CUDA_VISIBLE_DEVICES"), HasSubstr("--local-rank")));
}

// Containers side by side may give one host several names.
TEST(RankDevices, ADeviceIsTheSameWhateverItsHostIsCalled) {
  EXPECT_THAT(shared_device({{0, "box1", "GPU-a"}, {1, "box2", "GPU-a"}}),
              StartsWith("rank 0 on box1 and rank 1 on box2 have"));
}

TEST(RankDevices, AllThatShareTheFirstOneAreNamed) {
  EXPECT_THAT(shared_device({{0, "n", "GPU-a"},
                             {1, "n", "GPU-b"},
                             {2, "n", "GPU-a"},
                             {3, "n", "GPU-b"},
                             {4, "n", "GPU-a"}}),
              AllOf(StartsWith("rank 0 on n and rank 2 on n and rank 4 on n have"),
                    Not(HasSubstr("GPU-b"))));
}

TEST(RankDevices, InstancesOfOneDeviceAreDevicesOfTheirOwn) {
  EXPECT_EQ(shared_device({{0, "n", "MIG-a"}, {1, "n", "MIG-b"}}), "");
  EXPECT_THAT(shared_device({{0, "n", "MIG-a"}, {1, "n", "MIG-a"}}), HasSubstr("MIG-a"));
}

TEST(RankDevices, ProcessorsAreNotCompared) {
  EXPECT_EQ(shared_device({{0, "n", ""}, {1, "n", ""}, {2, "n", "GPU-a"}}), "");
}

}  // namespace
}  // namespace engine
