#include "engine/launch/gpu_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(GpuIds, TheFirstVisibleDeviceIsTakenByAProcessThatSearchesAlone) {
  EXPECT_EQ(first_device({"2", "3"}, 4), 2);
  EXPECT_EQ(first_device({"3", "1"}, 2), 1);
  EXPECT_EQ(first_device({"cuda:1"}, 2), 1);
  EXPECT_EQ(first_device({"all"}, 2), 0);
  EXPECT_EQ(first_device({"cuda"}, 2), 0);
  EXPECT_EQ(first_device({"cpu"}, 0), 0);
}

TEST(GpuIds, ADeviceThatIsNotThereIsTakenAllTheSameSoThatOpeningItSaysWhy) {
  EXPECT_EQ(first_device({"2", "3"}, 2), 2);
  EXPECT_EQ(first_device({"1"}, 0), 1);
  EXPECT_EQ(first_device({"all"}, 0), 0);
}

TEST(GpuIds, SeveralDevicesMeanARankForEach) {
  EXPECT_THAT(devices_of_local_ranks({"0", "1"}, {.count = 2, .names = {}}), ElementsAre("0", "1"));
  EXPECT_THAT(devices_of_local_ranks({"cuda:3", "1"}, {.count = 4, .names = {}}),
              ElementsAre("3", "1"));
  EXPECT_THAT(devices_of_local_ranks({"all"}, {.count = 3, .names = {}}),
              ElementsAre("0", "1", "2"));
  EXPECT_THAT(devices_of_local_ranks({"0", "all"}, {.count = 2, .names = {}}),
              ElementsAre("0", "1"));
}

TEST(GpuIds, OneDeviceMeansNoRanks) {
  EXPECT_THAT(devices_of_local_ranks({"0"}, {.count = 4, .names = {}}), IsEmpty());
  EXPECT_THAT(devices_of_local_ranks({"all"}, {.count = 1, .names = {}}), IsEmpty());
  EXPECT_THAT(devices_of_local_ranks({"2", "cuda:2"}, {.count = 4, .names = {}}), IsEmpty());
  EXPECT_THAT(devices_of_local_ranks({"cuda", "0"}, {.count = 4, .names = {}}), IsEmpty());
}

TEST(GpuIds, WithoutDevicesThereAreNoRanks) {
  for (const char* const id : {"all", "0", "cpu", "cuda"}) {
    EXPECT_THAT(devices_of_local_ranks({id, "1"}, {}), IsEmpty()) << id;
    EXPECT_THAT(devices_of_local_ranks({id, "1"}, {.count = 0, .names = ""}), IsEmpty()) << id;
  }
  EXPECT_THAT(devices_of_local_ranks({"cpu"}, {.count = 4, .names = {}}), IsEmpty());
}

TEST(GpuIds, DevicesThatAreNotVisibleHaveNoRank) {
  EXPECT_THAT(devices_of_local_ranks({"0", "5", "1"}, {.count = 2, .names = {}}),
              ElementsAre("0", "1"));
  EXPECT_THAT(devices_of_local_ranks({"0", "5"}, {.count = 2, .names = {}}), IsEmpty());
}

// A number counts among what is visible already, and each rank sees what that one is called.
TEST(GpuIds, DevicesThatWereMadeVisibleBeforeKeepTheirNames) {
  EXPECT_THAT(devices_of_local_ranks({"all"}, {.count = 2, .names = "5,2"}), ElementsAre("5", "2"));
  EXPECT_THAT(devices_of_local_ranks({"2", "0"}, {.count = 3, .names = "GPU-3f, 7 ,MIG-a0"}),
              ElementsAre("MIG-a0", "GPU-3f"));
}

TEST(GpuIds, NamesBehindOneThatIsNoDeviceAreNotUsed) {
  EXPECT_THAT(devices_of_local_ranks({"all"}, {.count = 2, .names = "0,1,-1,2"}),
              ElementsAre("0", "1"));
  EXPECT_THAT(devices_of_local_ranks({"all"}, {.count = 3, .names = "0,1,,2"}),
              ElementsAre("0", "1"));
}

}  // namespace
}  // namespace engine
