#include "scheduler/config/width.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace scheduler {
namespace {

std::vector<int> gpus(const std::vector<Width>& widths) {
  std::vector<int> counts;
  for (const Width& width : widths) counts.push_back(width.gpus());
  return counts;
}

TEST(Width, TheMenuDoublesWholeNodes) {
  EXPECT_THAT(gpus(widths_of(4, 16)), testing::ElementsAre(1, 4, 8, 16, 32, 64));
  EXPECT_THAT(gpus(widths_of(4, 7)), testing::ElementsAre(1, 4, 8, 16));
  EXPECT_THAT(gpus(widths_of(1, 4)), testing::ElementsAre(1, 2, 4)) << "a node is one GPU";
  EXPECT_TRUE(widths_of(4, 0).empty());
  EXPECT_TRUE(widths_of(0, 4).empty());
}

TEST(Width, IsSaidInWords) {
  EXPECT_EQ(to_string(Width{}), "1 GPU");
  EXPECT_EQ(to_string(Width{.gpus_per_node = 4}), "1 node (4 GPUs)");
  EXPECT_EQ(to_string(Width{.nodes = 4, .gpus_per_node = 4}), "4 nodes (16 GPUs)");
  EXPECT_EQ(to_string(Width{.nodes = 2}), "2 nodes (2 GPUs)");
  EXPECT_EQ(to_string(Width{.gpus_per_node = 0}), "CPU");
  EXPECT_EQ(to_string(Width{.nodes = 3, .gpus_per_node = 0}), "3 nodes (CPU)");
}

TEST(Width, ThatCostsMoreIsGreater) {
  EXPECT_LT(Width{}, (Width{.gpus_per_node = 4}));
  EXPECT_LT((Width{.gpus_per_node = 4}), (Width{.nodes = 4})) << "as many GPUs on more nodes";
  EXPECT_GT((Width{.nodes = 2, .gpus_per_node = 4}), (Width{.nodes = 7}));
  EXPECT_LT((Width{.gpus_per_node = 0}), Width{});
}

}  // namespace
}  // namespace scheduler
