// packaging/margayd.yaml, the configuration that a site begins with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "base/read_file.h"
#include "scheduler/config/config_reader.h"

namespace scheduler {
namespace {

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

}  // namespace
}  // namespace scheduler
