#include "scheduler/process/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Config running() {
  Config config;
  config.state = "/var/lib/margay";
  config.socket = "/run/margay/margay.sock";
  config.engine = "/usr/bin/margay-engine";
  return config;
}

TEST(Reload, TakesWhatARunningDaemonCanChange) {
  Config wanted = running();
  wanted.engine = "/opt/margay/bin/margay-engine";
  wanted.local.slots = 4;
  wanted.limits.items_per_user = 7;
  wanted.keep = ResultsKeep::kPeaks;
  const Reload reload = reload_of(running(), wanted);
  EXPECT_THAT(reload.need_restart, IsEmpty());
  EXPECT_EQ(reload.config.engine, "/opt/margay/bin/margay-engine");
  EXPECT_EQ(reload.config.local.slots, 4);
  EXPECT_EQ(reload.config.limits.items_per_user, 7);
  EXPECT_EQ(reload.config.keep, ResultsKeep::kPeaks);
}

TEST(Reload, KeepsAndNamesWhatOnlyARestartChanges) {
  Config wanted = running();
  wanted.state = "/elsewhere";
  wanted.jobs_folder = "/shared/jobs";
  wanted.socket = "/elsewhere/socket";
  wanted.socket_group = "cryoem";
  wanted.cluster = ClusterKind::kSlurm;
  wanted.limits.body = 3'000'000;
  wanted.limits.requests_per_second = 1;
  wanted.limits.connections_per_user = 2;
  wanted.limits.connections = 9;
  wanted.local.slots = 4;
  const Reload reload = reload_of(running(), wanted);
  EXPECT_THAT(reload.need_restart,
              ElementsAre("state", "jobs", "socket", "socket_group", "cluster", "limits.body",
                          "limits.requests_per_second", "limits.connections_per_user",
                          "limits.connections"));
  EXPECT_EQ(reload.config.state, "/var/lib/margay");
  EXPECT_EQ(reload.config.jobs(), "/var/lib/margay/jobs");
  EXPECT_EQ(reload.config.socket, "/run/margay/margay.sock");
  EXPECT_EQ(reload.config.cluster, ClusterKind::kLocal);
  EXPECT_EQ(reload.config.limits.connections, Limits().connections);
  EXPECT_EQ(reload.config.local.slots, 4);
}

TEST(Reload, TakesTheDefaultFolderOfJobsForTheSameWhenItIsSpeltOut) {
  Config wanted = running();
  wanted.jobs_folder = "/var/lib/margay/jobs";
  EXPECT_THAT(reload_of(running(), wanted).need_restart, IsEmpty());
}

TEST(Reload, ThatFindsNoGpuWhereThereWereSomeIsRefused) {
  const LocalOptions with_gpus{.found = {{.id = "a"}, {.id = "b"}}};
  LocalOptions wanted{.found_note = "nvidia-smi: no answer"};
  try {
    check_gpus(with_gpus, wanted);
    FAIL() << "not refused";
  } catch (const GpusMissing& error) {
    EXPECT_STREQ(error.what(),
                 "this machine had 2 GPUs and shows none now (nvidia-smi: no answer); to search on "
                 "the processor set 'local.gpus: 0'");
  }
  EXPECT_NO_THROW(check_gpus({}, wanted)) << "there were none";
  EXPECT_NO_THROW(check_gpus(with_gpus, with_gpus));
  wanted.gpus.count = 0;
  EXPECT_NO_THROW(check_gpus(with_gpus, wanted)) << "the site wants none";
}

}  // namespace
}  // namespace scheduler
