#include "scheduler/daemon/site_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace scheduler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

slurm::NodeFacts node(const std::string& partition, int gpus,
                      slurm::NodeUse use = slurm::NodeUse::kUsable) {
  return {.name = "n", .partitions = {partition}, .gpus = gpus, .use = use};
}

slurm::ClusterFacts facts() {
  slurm::ClusterFacts facts{.complete = true};
  facts.site.partitions.value = {{"cpu", {}}, {"gpu", {.is_default = true}}, {"big", {}}};
  facts.site.nodes.value = {.each = {node("gpu", 4), node("gpu", 4), node("gpu", 0),
                                     node("gpu", 4, slurm::NodeUse::kDown), node("big", 4),
                                     node("cpu", 0)}};
  return facts;
}

Config site() {
  Config config;
  config.cluster = ClusterKind::kSlurm;
  config.templates = std::string(MARGAY_SOURCE_DIR) + "/templates";
  config.slurm.max_jobs = 50;
  config.slurm.max_pending = 3;
  return config;
}

TEST(SiteSize, CountsTheNodesThatPlainJobsMayRunOn) {
  const SiteSize size = site_size(site(), facts());
  EXPECT_EQ(size.nodes, 2) << "of the default partition, up, with GPUs";
  EXPECT_EQ(size.gpus_per_node, 4);
  EXPECT_EQ(size.max_jobs, 50);
  EXPECT_EQ(size.max_pending, 3);
  EXPECT_EQ(size.problem, "");
  Config elsewhere = site();
  elsewhere.slurm.options["partition"] = "big";
  EXPECT_EQ(site_size(elsewhere, facts()).nodes, 1);
  elsewhere.slurm.options["partition"] = "cpu";
  const SiteSize none = site_size(elsewhere, facts());
  EXPECT_EQ(none.nodes, 0);
  EXPECT_EQ(none.problem, "partition 'cpu' has no node with GPUs that is up");
}

TEST(SiteSize, SaysWhyTheNodesAreNotKnown) {
  const SiteSize size = site_size(site(), {.problem = "slurmrestd does not answer"});
  EXPECT_EQ(size.nodes, 0);
  EXPECT_THAT(size.problem, HasSubstr("slurmrestd does not answer"));
}

TEST(SiteSize, HasTheWidthsOfClassesWhereTheyAreChosen) {
  Config config = site();
  config.policy.classes[db::Priority::kUrgent] = {.cap = 4, .least_efficiency = 0.4};
  config.policy.classes[db::Priority::kHigh] = {.floor = 0.2};
  config.policy.segment = std::chrono::minutes(30);
  config.policy.classes[db::Priority::kLow] = {.options = {{"qos", "low"}}};
  config.policy.widths = WidthsBy::kFixed;
  EXPECT_THAT(site_size(config, facts()).classes, IsEmpty()) << "they have no effect";
  EXPECT_EQ(site_size(config, facts()).segment, 0);
  config.policy.widths = WidthsBy::kChosen;
  const SiteSize size = site_size(config, facts());
  EXPECT_EQ(size.segment, 1800);
  EXPECT_THAT(size.classes,
              ElementsAre(Pair("high", ElementsAre(Pair("floor", "0.2"))),
                          Pair("urgent", ElementsAre(Pair("cap", "4 nodes"),
                                                     Pair("least_efficiency", "0.4")))));
}

TEST(SiteSize, OfThisMachineIsTheNumberOfItsSlots) {
  Config config;
  config.local.slots = 3;
  const SiteSize size = site_size(config, {});
  EXPECT_EQ(size.nodes, 1);
  EXPECT_EQ(size.gpus_per_node, 3);
}

TEST(SiteSize, OfThisMachineIsTheNumberOfItsGpusThatSearchesUse) {
  Config config;
  config.local.found = {{.id = "GPU-a"}, {.id = "GPU-b"}, {.id = "GPU-c"}};
  EXPECT_EQ(site_size(config, {}).gpus_per_node, 3);
  EXPECT_EQ(site_size(config, {}).max_jobs, 3);
  config.local.gpus_per_search = 2;
  EXPECT_EQ(site_size(config, {}).gpus_per_node, 2);
  EXPECT_EQ(site_size(config, {}).max_jobs, 1);
}

}  // namespace
}  // namespace scheduler
