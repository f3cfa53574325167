#include "scheduler/script/item_options.h"

#include <algorithm>

#include "scheduler/script/job_script.h"
#include "slurm/sbatch/options.h"
#include "slurm/site_facts.h"

namespace scheduler {
namespace {

constexpr size_t kLongestLabel = 256;

std::string label(const std::string& value) {
  const bool hidden = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (!value.empty() && value.size() <= kLongestLabel && !hidden) return value;
  throw slurm::DirectiveError("option job-name: must be one line of at most " +
                              std::to_string(kLongestLabel) + " bytes");
}

void check_allowed(const Config& config, const std::string& option, bool privileged) {
  if (privileged || config.slurm.user_options.count(option) != 0) return;
  if (slurm::find_option(option) == nullptr) {
    throw slurm::DirectiveError("option " + option + ": " + slurm::refusal_of(option));
  }
  throw slurm::DirectiveError(
      "option " + option + ": only the administrator may give it here; you may give " +
      slurm::list_of(config.slurm.user_options) + " ('slurm.user_options' in the configuration)");
}

// One search in the shapes cpu and gpu has one rank, on one node.
void check_idle_nodes(const Config& config, Shape shape, const slurm::Directives& options) {
  const auto given = options.find("nodes");
  if (given == options.end() || !has_one_task(shape)) return;
  const auto wanted = slurm::resources_of(directives_of(config, shape, options), "its options");
  if (wanted.max_nodes.value_or(1) <= 1) return;
  throw slurm::DirectiveError("option nodes: '" + given->second +
                              "' reserves nodes that stay idle, since a search in the shape " +
                              to_string(shape) +
                              " runs on one: leave it out; to search on several, use --priority "
                              "urgent where slurm.urgent_shape is set, or ask the administrator "
                              "to set slurm.shape to nodes");
}

// One search in the shape gpu has one rank, on one GPU.
void check_idle_gpus(const Config& config, Shape shape, const slurm::Directives& options) {
  if (shape != Shape::kGpu) return;
  for (const char* option : {"gres", "gpus", "gpus-per-node", "gpus-per-task"}) {
    const auto given = options.find(option);
    if (given == options.end()) continue;
    const auto wanted = slurm::resources_of(directives_of(config, shape, options), "its options");
    if (slurm::gpus_of(wanted) <= std::max(1, wanted.max_nodes.value_or(1))) continue;
    throw slurm::DirectiveError("option " + std::string(option) + ": '" + given->second +
                                "' asks for several GPUs on a node, and a search in the shape gpu "
                                "uses one: ask for one, or leave it out; to search on several, "
                                "leave it out and use --priority urgent where slurm.urgent_shape "
                                "is set, or ask the administrator to set slurm.shape to node or "
                                "nodes");
  }
}

}  // namespace

slurm::Directives check_item_options(const Config& config,
                                     const std::map<std::string, std::string>& options,
                                     bool privileged) {
  if (options.empty()) return {};
  if (!facts_of(config.cluster).takes_options) {
    throw slurm::DirectiveError(
        "options such as '" + options.begin()->first +
        "' are for a Slurm cluster; this daemon runs its searches on its own machine");
  }
  slurm::Directives kept;
  for (const auto& [option, value] : options) {
    if (option == "job-name") {
      kept[option] = label(value);
      continue;
    }
    check_allowed(config, option, privileged);
    slurm::add_directive(kept, option, value, "option " + option);
  }
  directives_of(config, config.slurm.shape, kept);
  check_idle_nodes(config, config.slurm.shape, kept);
  check_idle_gpus(config, config.slurm.shape, kept);
  // Or it could not be promoted.
  if (config.slurm.urgent_shape) directives_of(config, *config.slurm.urgent_shape, kept);
  return kept;
}

}  // namespace scheduler
