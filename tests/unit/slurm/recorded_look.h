// One look at a cluster, recorded alike from slurmrestd 22.05.8 and 24.11.5 and from the commands
// of 22.05.8: n01 to n04 with four GPUs and 16 processors each, n04 drained. margay-x-1-a1 has two
// GPUs of n01, somebody's job one of n01 and one of n02, margay-x-2-a1 three of n02, the first task
// of an array the four of n03. A job for three whole nodes and the other nine tasks wait, and
// margay-x-3-a1 is held.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "slurm/cluster_facts.h"

namespace tests {

inline const slurm::QueuedJob& job_named(const std::vector<slurm::QueuedJob>& jobs,
                                         const std::string& name) {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const slurm::QueuedJob& job) {
    return job.status.name == name;
  });
  if (found == jobs.end()) throw std::runtime_error("there is no job " + name);
  return *found;
}

inline void expect_recorded_nodes(const slurm::NodeTotals& nodes) {
  ASSERT_EQ(nodes.each.size(), 4U);
  const int busy[] = {3, 4, 4, 0};
  const int64_t cpus_busy[] = {3, 3, 1, 0};
  for (size_t i = 0; i < 4; ++i) {
    const slurm::NodeFacts& node = nodes.each[i];
    EXPECT_EQ(node.name, "n0" + std::to_string(i + 1));
    EXPECT_EQ(node.gpus, 4);
    EXPECT_EQ(node.gpus_busy, busy[i]) << node.name;
    EXPECT_EQ(node.gpu_kinds.at("").busy, busy[i]);
    EXPECT_EQ(node.cpus, 16);
    EXPECT_EQ(node.cpus_busy, cpus_busy[i]) << node.name;
    EXPECT_EQ(node.use, i < 3 ? slurm::NodeUse::kUsable : slurm::NodeUse::kDrained) << node.words;
    EXPECT_EQ(node.reason, i < 3 ? "" : "two | fans broken");
    EXPECT_TRUE(node.partitions.contains("main") && node.partitions.contains("short"));
  }
}

inline void expect_recorded_jobs(const slurm::ClusterFacts& facts) {
  using testing::ElementsAre;
  EXPECT_EQ(facts.running.size(), 4U);
  const slurm::QueuedJob& first = job_named(facts.running, "margay-x-1-a1");
  EXPECT_EQ(first.user, "nobody");
  EXPECT_EQ(first.status.gpus, 2);
  EXPECT_EQ(first.limit_minutes, 10);
  EXPECT_EQ(first.limit_end, first.status.start_time + 600);
  EXPECT_EQ(first.expected_start, 0);
  const slurm::QueuedJob& other = job_named(facts.running, "other");
  EXPECT_EQ(other.user, "games");
  EXPECT_EQ(other.nodes, 2);
  EXPECT_EQ(other.cpus, 4);
  const auto shares = slurm::shares_of(other);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[1].node, "n02");
  EXPECT_EQ(shares[1].gpus, 1);
  EXPECT_EQ(shares[1].cpus, 2);
  EXPECT_EQ(job_named(facts.running, "margay-x-2-a1").status.gpus, 3);
  EXPECT_EQ(job_named(facts.running, "array").waiting_tasks, 1);

  std::vector<std::string> names;
  for (const slurm::QueuedJob& job : facts.waiting) names.push_back(job.status.name);
  EXPECT_THAT(names, ElementsAre("wide", "array", "margay-x-3-a1")) << "in Slurm's order";
  const slurm::QueuedJob& wide = facts.waiting[0];
  EXPECT_EQ(wide.nodes, 3);
  EXPECT_EQ(wide.status.gpus, 12);
  EXPECT_EQ(wide.status.reason, "Resources");
  EXPECT_EQ(wide.partitions, slurm::Names{"main"});
  EXPECT_EQ(wide.expected_start, other.limit_end) << "when the longest of the others ends";
  EXPECT_EQ(facts.waiting[1].waiting_tasks, 9);
  EXPECT_EQ(facts.waiting[1].limit_minutes, 5);
  EXPECT_TRUE(facts.waiting[2].status.held);
  EXPECT_EQ(facts.waiting[2].expected_start, 0);
  EXPECT_EQ(slurm::unseen_use({}, facts, 1), slurm::UnseenByNode()) << "every job is shown";
}

}  // namespace tests
