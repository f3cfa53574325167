// Implements local_cluster.h: the local cluster as a planner sees it, slots as GPUs.
#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

#include "slurm/local/local_cluster.h"

namespace slurm {
namespace {

constexpr const char* kPartition = "local";

// Nothing of a local job depends on accounting: it is known that there are no such limits.
SiteFacts site_of(const std::string& host, int slots, int busy) {
  SiteFacts site{.now = std::time(nullptr)};
  NodeFacts node{.name = host,
                 .partitions = {kPartition},
                 .gpus = slots,
                 .gpu_kinds = {{"", {.gpus = slots, .busy = busy}}},
                 .gpus_busy = busy};
  site.nodes.value = NodeTotals{.nodes = 1, .gpus = slots, .each = {std::move(node)}};
  site.partitions.value = {{kPartition, {.state = "UP", .is_default = true, .nodes = 1}}};
  site.enforces_limits = false;
  return site;
}

}  // namespace

QueuedJob LocalCluster::queued_job_of(const Job& job) const {
  QueuedJob queued{.status = job.status, .ours = true, .partitions = {kPartition}, .nodes = 1};
  queued.status.gpus = 1;
  const int64_t limit_s = job.request.limit_ms / 1000;
  if (limit_s > 0) queued.limit_minutes = (limit_s + 59) / 60;
  if (job.waits) return queued;
  queued.node_list = host_;
  queued.gpus_by_node = {1};
  if (limit_s > 0 && job.status.start_time > 0) {
    queued.limit_end = job.status.start_time + limit_s;
  }
  return queued;
}

// The jobs come in the order of their submission, which is the one in which they start.
ClusterFacts LocalCluster::facts() {
  ClusterFacts facts;
  try {
    for (const Job& job : all_jobs()) {
      if (job.ended) continue;
      (job.waits ? facts.waiting : facts.running).push_back(queued_job_of(job));
    }
    facts.complete = true;
  } catch (const std::system_error& error) {
    facts.problem = std::string("local cluster: ") + error.what();
  }
  const auto running = static_cast<int>(facts.running.size());
  facts.site = site_of(host_, options_.slots, std::min(options_.slots, running));
  return facts;
}

}  // namespace slurm
