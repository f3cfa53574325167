// What Slurm's limits leave a job.
#include "scheduler/policy/job_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/unit/scheduler/policy/decided.h"
#include "tests/unit/scheduler/policy/example_cluster.h"

namespace scheduler {
namespace {

using db::Priority;

slurm::SiteFacts limited_site() {
  slurm::SiteFacts site{.user = "margay"};
  site.partitions.value = {
      {"gpu", {.most_minutes = 600, .most_nodes = 8, .own_qos = "ofpartition"}}};
  site.qos.value = {
      {"normal", {}},
      {"ofpartition", {.limits = {.of_job = {{"gres/gpu", 24}}}}},
      {"short", {.limits = {.most_minutes = 60, .of_user = {{"node", 2}}}}},
      {"long", {.limits = {.most_minutes = 6000}, .lifts_time = true, .lifts_nodes = true}}};
  site.associations.value = {.default_account = "core",
                             .all = {{.account = "core",
                                      .user = "margay",
                                      .qos = {"normal", "short", "long"},
                                      .default_qos = "normal",
                                      .limits = {.most_minutes = 480, .of_job = {{"node", 6}}}}}};
  return site;
}

TEST(JobBounds, TheTightestOfPartitionQosAccountAndUserCounts) {
  const slurm::SiteFacts site = limited_site();
  EXPECT_EQ(bounds_of_job(site, "gpu", {}),
            (JobBounds{.most_nodes = 6, .most_gpus = 24, .most_seconds = 480 * 60}));
  EXPECT_EQ(bounds_of_job(site, "gpu", {{"qos", "short"}}),
            (JobBounds{.most_nodes = 2, .most_gpus = 24, .most_seconds = 3600}));
}

TEST(JobBounds, AQosMayLiftThoseOfThePartition) {
  const JobBounds bounds = bounds_of_job(limited_site(), "gpu", {{"qos", "long"}});
  EXPECT_EQ(bounds.most_seconds, 6000 * 60);
  EXPECT_EQ(bounds.most_nodes, 6) << "the user's association";
}

TEST(JobBounds, WithoutAccountingThePartitionsAloneCount) {
  slurm::SiteFacts site = limited_site();
  site.qos.value.reset();
  EXPECT_EQ(bounds_of_job(site, "gpu", {}), (JobBounds{.most_nodes = 8, .most_seconds = 600 * 60}));
  EXPECT_EQ(bounds_of_job(site, "elsewhere", {}), JobBounds());
  site = limited_site();
  site.enforces_limits = false;
  EXPECT_EQ(bounds_of_job(site, "gpu", {}).most_seconds, 600 * 60);
}

TEST(JobBounds, MoreMinutesThanSecondsCanCountAreNoTighterLimit) {
  slurm::SiteFacts site = limited_site();
  site.associations.value.reset();
  site.partitions.value->at("gpu").most_minutes = std::numeric_limits<int64_t>::max();
  EXPECT_GT(bounds_of_job(site, "gpu", {}).most_seconds, int64_t{6000} * 60);
}

class BoundedWidthsTest : public testing::Test {
 protected:
  BoundedWidthsTest() {
    const Width node{.gpus_per_node = 4};
    const Width all{.nodes = 16, .gpus_per_node = 4};
    snapshot_.now = 1'000'000;
    snapshot_.limits = {.slots = 1000,
                        .queues = true,
                        .menu = widths_of(4, kExampleNodes),
                        .classes = {{Priority::kNormal, {{}, node, node, 0.97}},
                                    {Priority::kUrgent, {{}, all, all, 0.50}}}};
    snapshot_.times = {SearchTime{.work = kLong, .model = example_model()}};
    snapshot_.gpus = GpuForecast{idle(), idle()};
  }
  JobStart start_of(PlanItem item) {
    item.id = 1;
    item.kind = 0;
    snapshot_.items = {std::move(item)};
    return plan(snapshot_).starts.at(0);
  }
  QueueSnapshot snapshot_;
};

TEST_F(BoundedWidthsTest, NoWidthIsChosenThatSlurmDoesNotGive) {
  EXPECT_EQ(start_of({.priority = Priority::kUrgent}).width.nodes, 16);
  snapshot_.bounds[{Priority::kUrgent, {}}] = {.most_nodes = 5};
  EXPECT_EQ(start_of({.priority = Priority::kUrgent}).width.nodes, 4);
  snapshot_.bounds[{Priority::kUrgent, {}}] = {.most_gpus = 8};
  EXPECT_EQ(start_of({.priority = Priority::kUrgent}).width.nodes, 2);
}

TEST_F(BoundedWidthsTest, AJobStopsWithACheckpointBeforeTheLongestTimeThatSlurmGives) {
  snapshot_.bounds[{Priority::kUrgent, {}}] = {.most_gpus = 4, .most_seconds = 7200};
  const JobStart urgent = start_of({.priority = Priority::kUrgent});
  EXPECT_EQ(urgent.segment, 7200 - 120);
  EXPECT_EQ(urgent.longest, 7200);
  snapshot_.limits.segment = 3600;
  snapshot_.bounds[{Priority::kNormal, {}}] = {.most_seconds = 1800};
  EXPECT_EQ(start_of({.priority = Priority::kNormal}).segment, 1800 - 120);
  snapshot_.bounds[{Priority::kNormal, {}}] = {.most_seconds = 100'000};
  EXPECT_EQ(start_of({.priority = Priority::kNormal}).segment, 3600);
}

TEST_F(BoundedWidthsTest, AnItemsOwnQosOrAccountHasItsOwnBounds) {
  snapshot_.bounds[{Priority::kUrgent, {}}] = {.most_nodes = 8};
  const PlanItem own =
      asking({.priority = Priority::kUrgent}, {.own_options = true, .place = {{"qos", "short"}}});
  snapshot_.bounds[{Priority::kUrgent, own.asks->place}] = {.most_nodes = 2};
  EXPECT_EQ(start_of(own).width.nodes, 2);
  EXPECT_EQ(start_of({.priority = Priority::kUrgent}).width.nodes, 8);
}

}  // namespace
}  // namespace scheduler
