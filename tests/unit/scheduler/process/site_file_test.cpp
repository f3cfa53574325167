// packaging/margayd.yaml, the configuration that a site begins with.
#include "scheduler/process/site_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/read_file.h"
#include "scheduler/config/config_reader.h"
#include "slurm/commands/parse.h"

namespace scheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string site_file() { return *base::read_file(MARGAY_SOURCE_DIR "/packaging/margayd.yaml"); }

// With every key that it shows behind a '#'.
std::string all_keys(const std::string& text) {
  return std::regex_replace(text, std::regex("(^|\n)#((  )?[a-z_]+:)"), "$1$2");
}

TEST(SiteFile, IsTakenAsItIs) {
  const Config config = parse_config(site_file(), "margayd.yaml");
  EXPECT_EQ(config.state, "/var/lib/margay");
  EXPECT_EQ(config.socket, "/run/margay/margay.sock");
  EXPECT_EQ(config.cluster, ClusterKind::kLocal);
  EXPECT_EQ(config.keep, Config().keep);
  EXPECT_EQ(config.local.slots, Config().local.slots);
}

TEST(SiteFile, ShowsKeysThatExist) {
  const Config config = parse_config(all_keys(site_file()), "margayd.yaml");
  EXPECT_EQ(config.slurm.http.url, "unix:/run/slurmrestd/socket");
  EXPECT_EQ(config.slurm.options.at("partition"), "gpu");
  EXPECT_EQ(config.slurm.max_jobs, SlurmOptions().max_jobs);
  EXPECT_EQ(config.slurm.gpus_per_node, SlurmOptions().gpus_per_node);
  EXPECT_EQ(config.slurm.nodes, SlurmOptions().nodes);
  EXPECT_EQ(config.limits.items_per_user, Limits().items_per_user);
  EXPECT_EQ(config.limits.templates_per_user, Limits().templates_per_user);
  EXPECT_EQ(config.policy.urgent_allow, std::set<std::string>{"@margay"});
  EXPECT_EQ(config.jobs(), config.state + "/jobs");
}

slurm::NodeFacts node(const std::string& partition, int gpus, int64_t cpus, int64_t memory_mb) {
  return {.partitions = {partition}, .cpus = cpus, .memory_mb = memory_mb, .gpus = gpus};
}

slurm::SiteFacts site(const std::map<std::string, slurm::PartitionFacts>& partitions,
                      const std::vector<slurm::NodeFacts>& nodes) {
  slurm::SiteFacts facts;
  facts.partitions.value = partitions;
  facts.nodes.value = slurm::NodeTotals{.each = nodes};
  return facts;
}

Config proposed(const slurm::SiteFacts& facts) {
  return parse_config(with_values(site_file(), propose_slurm(facts).values), "proposal");
}

TEST(SiteProposal, FollowsASitesOwnWords) {
  const std::string folder = MARGAY_TEST_DATA "/slurm/commands/";
  slurm::SiteFacts facts;
  facts.partitions.value =
      slurm::parse_partitions_text(*base::read_file(folder + "partitions.txt"));
  facts.nodes.value = slurm::parse_sinfo_nodes(*base::read_file(folder + "sinfo.txt"));
  const Config config = proposed(facts);
  EXPECT_EQ(config.cluster, ClusterKind::kSlurm);
  EXPECT_EQ(config.slurm.transport, Transport::kCli);
  EXPECT_EQ(config.slurm.shape, Shape::kGpu);
  EXPECT_EQ(config.slurm.urgent_shape, Shape::kNodes);
  EXPECT_EQ(config.slurm.gpus_per_node, 4);
  EXPECT_EQ(config.slurm.nodes, 4);
  EXPECT_EQ(config.slurm.max_jobs, 16);
  EXPECT_EQ(
      config.slurm.options,
      (slurm::Directives{
          {"cpus-per-task", "4"}, {"mem", "16000M"}, {"partition", "main"}, {"time", "04:00:00"}}));
  EXPECT_THAT(propose_slurm(facts).notes.front(),
              HasSubstr("partition 'main': 4 nodes with 16 GPUs"));
}

TEST(SiteProposal, TakesTheOpenPartitionWithTheMostGpus) {
  const auto facts = site({{"closed", {.state = "DOWN"}},
                           {"cpu", {.state = "UP", .is_default = true}},
                           {"gpu", {.state = "UP", .most_minutes = 90}}},
                          {node("closed", 8, 64, 500'000), node("cpu", 0, 128, 500'000),
                           node("gpu", 2, 16, 64'000), node("gpu", 0, 16, 64'000)});
  const Config config = proposed(facts);
  EXPECT_EQ(config.slurm.options.at("partition"), "gpu");
  EXPECT_EQ(config.slurm.options.at("time"), "01:30:00");
  EXPECT_EQ(config.slurm.options.at("cpus-per-task"), "8");
  EXPECT_EQ(config.slurm.options.at("mem"), "32000M");
  EXPECT_EQ(config.slurm.urgent_shape, Shape::kNode);
  EXPECT_EQ(config.slurm.max_jobs, 2);
}

TEST(SiteProposal, WithoutGpusSearchesOnProcessors) {
  const auto facts = site({{"all-nodes", {.state = "UP"}}}, {node("all-nodes", 0, 64, 256'000)});
  const Config config = proposed(facts);
  EXPECT_EQ(config.slurm.shape, Shape::kCpu);
  EXPECT_FALSE(config.slurm.urgent_shape.has_value());
  EXPECT_EQ(config.slurm.options.at("partition"), "all-nodes");
  EXPECT_EQ(config.slurm.options.at("cpus-per-task"), "16");
  EXPECT_EQ(config.slurm.options.at("mem"), "64000M");
}

TEST(SiteProposal, IsEmptyWhereNothingIsOpenOrKnown) {
  EXPECT_THAT(propose_slurm({}).values, IsEmpty());
  EXPECT_THAT(propose_slurm(site({{"gpu", {.state = "DOWN"}}}, {node("gpu", 4, 64, 1000)})).values,
              IsEmpty());
  EXPECT_THAT(propose_slurm(site({{"gpu", {.state = "UP"}}}, {})).values, IsEmpty());
}

TEST(WithValues, ReplacesAndBringsForwardKeysWithTheirSections) {
  const std::string text = "# Words: kept.\na: 1\n#b: 2\n#s:\n  # of s\n#  t: 3\n#  u: 4\n";
  EXPECT_EQ(with_values(text, {{"a", "7"}, {"s.u", "8"}}),
            "# Words: kept.\na: 7\n#b: 2\ns:\n  # of s\n#  t: 3\n  u: 8\n");
  EXPECT_THROW(with_values(text, {{"s.v", "9"}}), std::logic_error);
}

TEST(YamlText, QuotesWhatYamlWouldReadOtherwise) {
  EXPECT_EQ(yaml_text("/srv/margay"), "/srv/margay");
  for (const std::string odd : {"a b", "12", "x: y", "#1", "say \"no\" \\", "a,b", ""}) {
    const std::string yaml = "state: " + yaml_text(odd) + "\nresults: {keep: all}\n";
    EXPECT_EQ(parse_config(yaml, "test").state, odd) << yaml;
  }
}

}  // namespace
}  // namespace scheduler
