// Which of the devices that a rank sees it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/unit/engine/launch/rank_cases.h"

namespace engine {
namespace {

TEST(DeviceOfRank, OfSeveralDevicesARankTakesTheOneOfItsLocalRank) {
  const RankPlace place =
      find(with(slurm(), {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_STEP_GPUS", "0,1,2,3"}}));
  EXPECT_EQ(device_of_rank(place, 4), 2);
  EXPECT_EQ(device_of_rank(find({}), 4), 0);
}

TEST(DeviceOfRank, ADeviceThatSlurmBoundToTheTaskIsTaken) {
  EXPECT_EQ(device_of_rank(find(slurm()), 1), 0);
  EXPECT_EQ(device_of_rank(find(without(slurm(), "CUDA_VISIBLE_DEVICES")), 1), 0);
}

TEST(DeviceOfRank, ABindingThatHidesNothingLeavesTheLocalRank) {
  EXPECT_EQ(device_of_rank(find(slurm()), 4), 2);
}

TEST(DeviceOfRank, TasksThatWouldShareTheHostsOnlyDeviceAreRefused) {
  const RankPlace place =
      find(with(slurm(), {{"CUDA_VISIBLE_DEVICES", "0"}, {"SLURM_GPUS_ON_NODE", "1"}}));
  EXPECT_THROW(device_of_rank(place, 1), UsageError);
}

TEST(DeviceOfRank, ADeviceBoundByHandIsTaken) {
  const Variables one = {{"CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c"}};
  EXPECT_EQ(device_of_rank(find(with(open_mpi(), one)), 1), 0);
  EXPECT_EQ(device_of_rank(find(one, {.rank = 1, .world_size = 2, .rendezvous = "n1:4000"}), 1), 0);
  EXPECT_EQ(device_of_rank(find(with(without(torchrun(), "TORCHELASTIC_RUN_ID"), one)), 1), 0);
}

TEST(DeviceOfRank, OneEnvironmentForAllIsNoBinding) {
  const Variables one = {{"CUDA_VISIBLE_DEVICES", "0"}};
  EXPECT_THROW(device_of_rank(find(with(torchrun(), one)), 1), UsageError);
  EXPECT_THROW(
      device_of_rank(
          find(one, {.rank = 1, .world_size = 2, .local_rank = 1, .rendezvous = "n1:4000"}), 1),
      UsageError);
}

TEST(DeviceOfRank, FewerDevicesThanRanksAreRefused) {
  try {
    device_of_rank(find(open_mpi()), 1);
    FAIL() << "taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("rank 1 of 4"), testing::HasSubstr("1 device:")));
  }
  EXPECT_THROW(device_of_rank(find({}), 0), UsageError);
}

}  // namespace
}  // namespace engine
