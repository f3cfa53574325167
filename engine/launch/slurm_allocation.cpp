#include "engine/launch/slurm_allocation.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/slurm_lists.h"
#include "base/text.h"
#include "engine/error.h"

namespace engine {
namespace {

std::optional<std::string> text_of(const Environment& environment, const std::string& name) {
  std::optional<std::string> value = environment(name);
  return value && !value->empty() ? value : std::nullopt;
}

std::optional<int> whole(const std::string& text) {
  const auto number = base::parse_number<int>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<int> number_of(const Environment& environment, const std::string& name) {
  const std::optional<std::string> text = text_of(environment, name);
  if (!text) return std::nullopt;
  const std::optional<int> number = whole(*text);
  if (!number) {
    throw UsageError(name + ": expected a whole number from 0 to 2147483647, got '" + *text + "'");
  }
  return number;
}

// The smallest of what a list like "4(x2),3" says of each node; nothing when it has not all of
// them: within a step some lists are the step's.
std::optional<int> least(const std::string& list, int nodes) {
  std::optional<int> found;
  for (int node = 0; node < nodes; ++node) {
    const std::optional<int> count = base::count_of_host(list, node);
    if (!count) return std::nullopt;
    found = std::min(found.value_or(*count), *count);
  }
  return found;
}

// "2", "a100:2", "a100:2,h200:2".
int gpus_in(const std::string& name, const std::string& text) {
  int sum = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::optional<int> count = whole(part.substr(part.rfind(':') + 1));
    if (!count) {
      throw UsageError(name + ": expected a number of GPUs, such as 2 or a100:2, got '" + text +
                       "'");
    }
    sum += *count;
    at = end + 1;
  }
  return sum;
}

// What is said of the whole job goes before what a step may have less of.
int gpus_of_a_node(const Environment& environment, int nodes) {
  if (const auto text = text_of(environment, "SLURM_GPUS_PER_NODE")) {
    return gpus_in("SLURM_GPUS_PER_NODE", *text);
  }
  if (const auto list = text_of(environment, "SLURM_JOB_GPUS")) {
    return 1 + static_cast<int>(std::count(list->begin(), list->end(), ','));
  }
  if (const auto count = number_of(environment, "SLURM_GPUS_ON_NODE")) return *count;
  if (const auto text = text_of(environment, "SLURM_GPUS")) {
    return gpus_in("SLURM_GPUS", *text) / nodes;
  }
  return 0;
}

int tasks_of_a_node(const Environment& environment, int nodes, int cores) {
  if (const auto count = number_of(environment, "SLURM_NTASKS_PER_NODE")) return *count;
  if (const auto list = text_of(environment, "SLURM_TASKS_PER_NODE")) {
    if (const auto count = least(*list, nodes)) return *count;
  }
  return cores / std::max(1, number_of(environment, "SLURM_CPUS_PER_TASK").value_or(1));
}

}  // namespace

std::optional<Allocation> find_allocation(const Environment& environment) {
  if (!text_of(environment, "SLURM_JOB_ID")) return std::nullopt;
  const int nodes = number_of(environment, "SLURM_JOB_NUM_NODES").value_or(1);
  if (nodes < 2) return std::nullopt;
  Allocation found{.nodes = nodes};
  const std::string name = "SLURM_JOB_CPUS_PER_NODE";
  const std::optional<std::string> list = text_of(environment, name);
  const std::optional<int> cores =
      list ? least(*list, nodes) : number_of(environment, "SLURM_CPUS_ON_NODE");
  if (!cores || *cores < 1) {
    throw UsageError(name + " is " + (list ? "'" + *list + "'" : "not set") +
                     ": it does not say how many processors each of the " + std::to_string(nodes) +
                     " nodes of this allocation has");
  }
  found.cores = *cores;
  found.tasks = std::clamp(tasks_of_a_node(environment, nodes, *cores), 1, *cores);
  found.gpus = gpus_of_a_node(environment, nodes);
  return found;
}

Spread spread_over(const Allocation& allocation, bool on_devices, int nproc, int threads) {
  if (on_devices && allocation.gpus == 0) {
    throw UsageError(
        "Slurm names no GPUs of this allocation (SLURM_GPUS_PER_NODE, SLURM_JOB_GPUS, "
        "SLURM_GPUS_ON_NODE): ask for them with --gpus-per-node, or say --backend cpu");
  }
  const int held = on_devices ? allocation.gpus : allocation.tasks;
  const int all = held * allocation.nodes;
  if (nproc > all) {
    throw UsageError(
        "--nproc " + std::to_string(nproc) + ": this allocation of " +
        base::counted(allocation.nodes, "node") + " holds " + base::counted(all, "rank") + ", " +
        base::counted(held, on_devices ? "GPU" : "task") + " on each: ask for more with " +
        (on_devices ? "--gpus-per-node" : "--ntasks-per-node"));
  }
  Spread spread{.most = nproc > 0 ? nproc : all};
  spread.per_node = std::min(held, spread.most);
  spread.threads = threads > 0 ? threads : std::max(1, allocation.cores / spread.per_node);
  if (spread.threads * spread.per_node > allocation.cores) {
    throw UsageError(base::counted(spread.per_node, "rank") + " x " +
                     base::counted(spread.threads, "thread") + " are more than the " +
                     base::counted(allocation.cores, "core") +
                     " that this allocation has on a node: ask for more with --cpus-per-task, or "
                     "give fewer --threads");
  }
  return spread;
}

int nodes_of(const Spread& spread, int ranks) {
  return (ranks + spread.per_node - 1) / spread.per_node;
}

std::vector<std::string> step_command(const Spread& spread, bool on_devices, int ranks,
                                      const std::vector<std::string>& command) {
  std::vector<std::string> words = {"env"};
  // How the job was asked for, which srun would take as asked for again.
  for (const char* name :
       {"NTASKS", "NPROCS", "NTASKS_PER_NODE", "NTASKS_PER_CORE", "NTASKS_PER_SOCKET",
        "NTASKS_PER_GPU", "CPUS_PER_TASK", "CPUS_PER_GPU", "TRES_PER_TASK", "GPUS", "GPUS_PER_NODE",
        "GPUS_PER_TASK", "GPUS_PER_SOCKET", "MEM_PER_CPU", "MEM_PER_GPU", "MEM_PER_NODE",
        "DISTRIBUTION", "EXPORT_ENV"}) {
    words.push_back("--unset=SLURM_" + std::string(name));
  }
  // --overlap, for a step within a step, which older releases do not have and do not need.
  words.insert(words.end(), {"SLURM_OVERLAP=1", "srun"});
  words.push_back("--nodes=" + std::to_string(nodes_of(spread, ranks)));
  words.push_back("--ntasks=" + std::to_string(ranks));
  words.push_back("--relative=0");
  words.push_back("--distribution=plane=" + std::to_string(spread.per_node));
  words.push_back("--cpus-per-task=" + std::to_string(spread.threads));
  words.emplace_back("--mem=0");  // all that the job has on each node
  if (on_devices) words.emplace_back("--gpus-per-task=1");
  // The ranks end each other; who is killed cannot say why.
  words.insert(words.end(), {"--kill-on-bad-exit=0", "--wait=0", "--input=none", "--label"});
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace engine
