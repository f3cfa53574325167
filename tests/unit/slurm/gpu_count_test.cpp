#include "slurm/gpu_count.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace slurm {
namespace {

TEST(GpuCount, EveryNotationOfSlurmIsRead) {
  const std::map<std::string, int> lists = {{"gres/gpu", 1},
                                            {"gres:gpu:3", 3},
                                            {"gpu:4(S:0,1)", 4},
                                            {"gpu:a100:4(S:0-1),nvme:1", 4},
                                            {"gres/gpu:a100", 1},
                                            {"gres/nvme:7,gres/gpu:a100:2", 2},
                                            {"cpu=2,gres/gpu=4,gres/gpu:a100=4", 4},
                                            {"cpu=2,gres/gpu:a100=4,gres/gpu:v100=2", 6}};
  for (const auto& [list, gpus] : lists) EXPECT_EQ(gpus_in(list), gpus) << list;
}

// Only "gres/gpu=" is a sum; "gres/gpu:1" is one more GPU of any kind.
TEST(GpuCount, GpusOfAnyKindAreAddedToThoseOfAKind) {
  EXPECT_EQ(gpus_in("gres/gpu:a100:2,gres/gpu:1"), 3);
}

TEST(GpuCount, AListWithoutGpusNamesNone) {
  for (const char* list : {"", "N/A", "cpu=4,mem=8G", "gres/gpumem:1", "gres:nvme:1"}) {
    EXPECT_EQ(gpus_in(list), std::nullopt) << list;
  }
}

TEST(TimesGpus, IsNeverMoreThanAMillionNorForLessThanOneNode) {
  EXPECT_EQ(times_gpus(4, 3), 12);
  EXPECT_EQ(times_gpus(4, 0), 4);
  EXPECT_EQ(times_gpus(296'464, 1'795'296'469), 1'000'000);
  EXPECT_EQ(times_gpus(1, INT64_MAX), 1'000'000);
  EXPECT_EQ(times_gpus(0, INT64_MAX), 0);
}

}  // namespace
}  // namespace slurm
