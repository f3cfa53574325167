// What the doctor's probe job asks of Slurm.
#include <gtest/gtest.h>

#include "scheduler/doctor/probe_job.h"

namespace scheduler {
namespace {

TEST(ProbeDirectives, RunWhereASearchDoesWithOneOfEverything) {
  const slurm::Directives asks = {{"partition", "gpu"},   {"account", "lab"},
                                  {"qos", "high"},        {"gres", "gpu:a100:4"},
                                  {"mem", "500G"},        {"nodes", "4"},
                                  {"time", "2-00:00:00"}, {"mail-user", "ann@example.org"}};
  const slurm::Directives probe = probe_directives(asks);
  EXPECT_EQ(probe.at("partition"), "gpu");
  EXPECT_EQ(probe.at("account"), "lab");
  EXPECT_EQ(probe.at("qos"), "high");
  EXPECT_EQ(probe.at("gres"), "gpu:a100:1");
  EXPECT_EQ(probe.at("nodes"), "1");
  EXPECT_EQ(probe.at("time"), "2");
  EXPECT_EQ(probe.count("mail-user"), 0U);
  slurm::check(probe, "the probe");
}

TEST(ProbeDirectives, AsksForNoGpuWhereASearchNeedsNone) {
  EXPECT_EQ(probe_directives({{"partition", "cpu"}}).count("gres"), 0U);
  EXPECT_EQ(probe_directives({{"gpus-per-node", "2"}, {"nodes", "1"}}).at("gres"), "gpu:1");
}

}  // namespace
}  // namespace scheduler
