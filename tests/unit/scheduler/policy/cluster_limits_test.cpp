#include "scheduler/policy/cluster_limits.h"

#include <gtest/gtest.h>

namespace scheduler {
namespace {

TEST(ClusterLimits, TheConfigurationDecidesWhatUrgentItemsGet) {
  Config config;
  config.cluster = ClusterKind::kSlurm;
  EXPECT_FALSE(limits_of(config).urgent);
  config.slurm.urgent_shape = Shape::kGpu;
  EXPECT_FALSE(limits_of(config).urgent) << "as all";
  config.slurm.urgent_shape = Shape::kNodes;
  config.slurm.nodes = 8;
  ASSERT_TRUE(limits_of(config).urgent);
  EXPECT_EQ(limits_of(config).urgent, (Width{.nodes = 8, .gpus_per_node = 4}));
  EXPECT_EQ(limits_of(config).urgent_lane, "nodes");
  config.cluster = ClusterKind::kLocal;
  EXPECT_FALSE(limits_of(config).urgent);
}

TEST(ClusterLimits, TheConfigurationDecidesWhatTheClusterGives) {
  Config config;
  config.local.slots = 3;
  EXPECT_EQ(limits_of(config).slots, 3);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 device");
  EXPECT_FALSE(limits_of(config).queues);
  config.local.found = {{.id = "GPU-a"}, {.id = "GPU-b"}, {.id = "GPU-c"}, {.id = "GPU-d"}};
  EXPECT_EQ(limits_of(config).slots, 4);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 GPU");
  config.local.gpus_per_search = 2;
  EXPECT_EQ(limits_of(config).slots, 2);
  EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), "1 node (2 GPUs)");
  EXPECT_FALSE(limits_of(config).queues);
  config.cluster = ClusterKind::kSlurm;
  config.slurm.max_jobs = 40;
  config.slurm.max_pending = 7;
  EXPECT_EQ(limits_of(config).slots, 40);
  EXPECT_EQ(limits_of(config).max_pending, 7);
  EXPECT_TRUE(limits_of(config).queues);
  const std::vector<std::pair<Shape, std::string>> words = {{Shape::kCpu, "CPU"},
                                                            {Shape::kGpu, "1 GPU"},
                                                            {Shape::kNode, "1 node (4 GPUs)"},
                                                            {Shape::kNodes, "4 nodes (16 GPUs)"}};
  for (const auto& [shape, word] : words) {
    config.slurm.shape = shape;
    EXPECT_EQ(text_of(limits_of(config), limits_of(config).width), word);
  }
}

}  // namespace
}  // namespace scheduler
