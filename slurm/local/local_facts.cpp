// Implements local_cluster.h: the local cluster as a planner sees it; without GPUs, its slots stand
// in their place.
#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

#include "slurm/local/local_cluster.h"

namespace slurm {
namespace {

constexpr const char* kPartition = "local";

struct NodeGpus {
  int all = 0;
  int busy = 0;
};

// Nothing of a local job depends on accounting: it is known that there are no such limits.
SiteFacts site_of(const std::string& host, const NodeGpus& gpus) {
  SiteFacts site{.now = std::time(nullptr)};
  NodeFacts node{.name = host,
                 .partitions = {kPartition},
                 .gpus = gpus.all,
                 .gpu_kinds = {{"", {.gpus = gpus.all, .busy = gpus.busy}}},
                 .gpus_busy = gpus.busy};
  site.nodes.value = NodeTotals{.nodes = 1, .gpus = gpus.all, .each = {std::move(node)}};
  site.partitions.value = {{kPartition, {.state = "UP", .is_default = true, .nodes = 1}}};
  site.enforces_limits = false;
  return site;
}

}  // namespace

QueuedJob LocalCluster::queued_job_of(const Job& job) const {
  QueuedJob queued{.status = job.status, .ours = true, .partitions = {kPartition}, .nodes = 1};
  // On a machine with GPUs, a job on the processor holds none of them.
  const int gpus = options_.gpus.empty() ? 1 : job.request.gpus;
  queued.status.gpus = gpus;
  const int64_t limit_s = job.request.limit_ms / 1000;
  if (limit_s > 0) queued.limit_minutes = (limit_s + 59) / 60;
  if (job.waits) return queued;
  queued.node_list = host_;
  queued.gpus_by_node = {gpus};
  if (limit_s > 0 && job.status.start_time > 0) {
    queued.limit_end = job.status.start_time + limit_s;
  }
  return queued;
}

// The jobs come in the order of their submission, which is the one in which they start.
ClusterFacts LocalCluster::facts() {
  ClusterFacts facts;
  NodeGpus gpus{.all = static_cast<int>(options_.gpus.empty() ? static_cast<size_t>(options_.slots)
                                                              : options_.gpus.size())};
  try {
    const std::vector<Job> jobs = all_jobs();
    for (const Job& job : jobs) {
      if (job.ended) continue;
      (job.waits ? facts.waiting : facts.running).push_back(queued_job_of(job));
    }
    const int free = options_.gpus.empty() ? gpus.all - static_cast<int>(facts.running.size())
                                           : free_gpus(jobs).count();
    gpus.busy = gpus.all - std::max(0, free);
    facts.complete = true;
  } catch (const std::system_error& error) {
    facts.problem = std::string("local cluster: ") + error.what();
  }
  facts.site = site_of(host_, gpus);
  return facts;
}

}  // namespace slurm
