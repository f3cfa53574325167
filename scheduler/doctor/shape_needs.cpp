#include "scheduler/doctor/shape_needs.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "scheduler/script/job_script.h"
#include "slurm/sbatch/directives.h"

namespace scheduler {
namespace {

using slurm::Directives;
using slurm::Resources;

int64_t tasks_on_each_node(const Resources& wanted, int nodes) {
  if (wanted.tasks_per_node) return *wanted.tasks_per_node;
  return (wanted.tasks.value_or(1) + nodes - 1) / nodes;
}

int64_t cpus_on_each_node(const Resources& wanted, int nodes) {
  return tasks_on_each_node(wanted, nodes) * wanted.cpus_per_task.value_or(1);
}

int64_t memory_of_each_node(const Resources& wanted, int nodes) {
  if (wanted.memory_per_node_mb) return *wanted.memory_per_node_mb;
  return wanted.memory_per_cpu_mb.value_or(0) * cpus_on_each_node(wanted, nodes);
}

}  // namespace

std::string source_of(const Config& config, const JobShape& job, const std::string& option) {
  const Shape shape = job.shape;
  if (job.priority && config.policy.options_of(*job.priority).contains(option)) {
    return "policy.classes." + to_string(*job.priority) + " (" + option + ")";
  }
  const auto own = config.slurm.shape_options.find(shape);
  if (own != config.slurm.shape_options.end() && own->second.contains(option)) {
    return "slurm.shapes." + to_string(shape) + "." + option;
  }
  if (config.slurm.options.contains(option)) return "slurm.options." + option;
  if (option == "nodes" && shape == Shape::kNodes) return "slurm.nodes";
  const bool whole_nodes = shape == Shape::kNode || shape == Shape::kNodes;
  if (whole_nodes && (option == "gres" || option == "ntasks-per-node")) {
    return "slurm.gpus_per_node";
  }
  return "the " + option + " of shape " + to_string(shape) + " or of " + to_string(shape) +
         ".sbatch";
}

slurm::ShapeNeeds needs_of(const Config& config, const JobShape& job) {
  const Directives asks = directives_of(config, job, {});
  const Resources wanted = slurm::resources_of(asks, to_string(job));
  const int nodes = std::max(1, wanted.min_nodes.value_or(1));
  slurm::ShapeNeeds needs{
      .shape = to_string(job),
      .account = wanted.account,
      .qos = wanted.qos,
      .minutes = wanted.time_minutes.value_or(0),
      .nodes = nodes,
      .cpus = cpus_on_each_node(wanted, nodes),
      .memory_mb = memory_of_each_node(wanted, nodes),
      .gpus = slurm::gpus_of(wanted) / std::max(1, wanted.max_nodes.value_or(1)),
      .waiting = config.slurm.max_pending > 0 ? config.slurm.max_pending : kFewestPending,
      .jobs = config.slurm.max_jobs};
  needs.sources["jobs"] = "slurm.max_jobs";
  for (const std::string& name : base::split(wanted.partition, ',')) {
    if (!name.empty()) needs.partitions.insert(name);
  }
  const std::map<std::string, std::vector<const char*>> options = {
      {"partition", {"partition"}},
      {"account", {"account"}},
      {"qos", {"qos"}},
      {"time", {"time"}},
      {"nodes", {"nodes"}},
      {"cpus", {"cpus-per-task", "ntasks-per-node", "ntasks"}},
      {"mem", {"mem", "mem-per-cpu", "mem-per-gpu"}},
      {"gpus", {"gpus", "gpus-per-node", "gpus-per-task", "gres"}}};
  for (const auto& [need, names] : options) {
    for (const char* option : names) {
      if (asks.contains(option)) needs.sources.emplace(need, source_of(config, job, option));
    }
  }
  return needs;
}

}  // namespace scheduler
