#include "slurm/queued_job.h"

#include <algorithm>
#include <utility>

#include "base/slurm_lists.h"

namespace slurm {
namespace {

// The part of the node at `index` when `total` is spread evenly.
int64_t even_part(int64_t total, size_t index, size_t nodes) {
  const auto count = static_cast<int64_t>(nodes);
  return total / count + (static_cast<int64_t>(index) < total % count ? 1 : 0);
}

}  // namespace

std::vector<NodeShare> shares_of(const QueuedJob& job) {
  auto hosts = base::hosts_in(job.node_list);
  if (!hosts) return {};
  const int64_t gpus = std::max(0, job.status.gpus.value_or(0));
  const bool said = job.gpus_by_node.size() == hosts->size();
  std::vector<NodeShare> shares;
  for (size_t i = 0; i < hosts->size(); ++i) {
    shares.push_back(
        {.node = std::move((*hosts)[i]),
         .gpus = said ? job.gpus_by_node[i] : static_cast<int>(even_part(gpus, i, hosts->size())),
         .cpus = even_part(std::max<int64_t>(0, job.cpus), i, hosts->size())});
  }
  return shares;
}

}  // namespace slurm
