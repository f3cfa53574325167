#include "scheduler/daemon/site_size.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "db/records.h"
#include "scheduler/policy/cluster_limits.h"
#include "scheduler/script/job_script.h"

namespace scheduler {
namespace {

// As nodes_into() of config/policy_section.cpp reads it.
std::string width_text(int nodes) {
  if (nodes == 0) return "gpu";
  if (nodes == 1) return "node";
  return nodes >= kMostNodes ? "all" : std::to_string(nodes) + " nodes";
}

std::map<std::string, std::string> widths_of_class(const ClassOptions& options) {
  std::map<std::string, std::string> widths;
  const auto add = [&](const char* key, const std::optional<int>& nodes) {
    if (nodes) widths[key] = width_text(*nodes);
  };
  add("least", options.least);
  add("cap", options.cap);
  add("deadline_cap", options.deadline_cap);
  const auto add_share = [&](const char* key, const std::optional<double>& share) {
    if (!share) return;
    std::ostringstream text;
    text << *share;
    widths[key] = text.str();
  };
  add_share("least_efficiency", options.least_efficiency);
  add_share("floor", options.floor);
  return widths;
}

// The partition of plain jobs; empty: nobody says which that is.
std::string partition_of(const Config& config, const slurm::SiteFacts& site) {
  const slurm::Directives asked = directives_of(config, config.slurm.shape, {});
  if (const auto named = asked.find("partition"); named != asked.end()) return named->second;
  if (!site.partitions.value) return "";
  const auto& partitions = *site.partitions.value;
  const auto usual = std::find_if(partitions.begin(), partitions.end(),
                                  [](const auto& entry) { return entry.second.is_default; });
  return usual == partitions.end() ? "" : usual->first;
}

void count_nodes(const Config& config, const slurm::ClusterFacts& facts, SiteSize& size) {
  if (!facts.complete || !facts.site.nodes.value) {
    size.problem = facts.problem.empty() ? facts.site.nodes.problem : facts.problem;
    return;
  }
  const std::string partition = partition_of(config, facts.site);
  for (const slurm::NodeFacts& node : facts.site.nodes.value->each) {
    const bool is_there = partition.empty() || node.partitions.count(partition) > 0;
    if (is_there && node.use == slurm::NodeUse::kUsable && node.gpus > 0) ++size.nodes;
  }
  if (size.nodes == 0) {
    size.problem = (partition.empty() ? "the cluster" : "partition '" + partition + "'") +
                   " has no node with GPUs that is up";
  }
}

}  // namespace

SiteSize site_size(const Config& config, const slurm::ClusterFacts& facts) {
  if (!facts_of(config.cluster).takes_options) {
    const int searches = config.local.searches();
    return {.nodes = 1,
            .gpus_per_node = searches * std::max(1, config.local.gpus_of_search()),
            .max_jobs = searches};
  }
  SiteSize size{.gpus_per_node = config.slurm.gpus_per_node,
                .max_jobs = config.slurm.max_jobs,
                .max_pending = config.slurm.max_pending};
  if (config.policy.widths == WidthsBy::kChosen) {
    size.segment = limits_of(config).segment;
    for (const auto& [priority, options] : config.policy.classes) {
      auto widths = widths_of_class(options);
      if (!widths.empty()) size.classes[to_string(priority)] = std::move(widths);
    }
  }
  count_nodes(config, facts, size);
  return size;
}

}  // namespace scheduler
