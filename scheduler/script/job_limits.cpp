#include "scheduler/script/job_limits.h"

#include <algorithm>
#include <cmath>

#include "slurm/sbatch/options.h"

namespace scheduler {
namespace {

// By how much the memory of a node is divided for one option. 0: not known before the job runs.
int64_t parts_of_node(const std::string& option, const slurm::Resources& wanted) {
  if (option == "mem-per-gpu") return gpus_on_each_node(wanted);
  if (option == "mem-per-cpu") {
    return int64_t{wanted.cpus_per_task.value_or(1)} * wanted.tasks_per_node.value_or(1);
  }
  return 1;
}

}  // namespace

int gpus_on_each_node(const slurm::Resources& wanted) {
  return slurm::gpus_of(wanted) / std::max(1, wanted.max_nodes.value_or(1));
}

void stretch_time(slurm::Directives& asks, double factor, int64_t longest) {
  const auto limit = asks.find("time");
  if (limit == asks.end() || factor == 1) return;
  const int64_t seconds = slurm::parse_time(limit->second).value();
  if (seconds < 0) return;
  int64_t stretched = std::llround(static_cast<double>(seconds) * factor);
  if (longest >= 0) stretched = std::max(seconds, std::min(stretched, longest));
  limit->second = slurm::time_text(stretched);
}

void raise_memory(slurm::Directives& asks, double factor, int64_t largest,
                  const std::string& where) {
  if (factor == 1) return;
  const slurm::Resources wanted = slurm::resources_of(asks, where);
  for (const char* option : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
    const auto asked = asks.find(option);
    if (asked == asks.end()) continue;
    const int64_t megabytes = slurm::parse_memory(asked->second).value();
    if (megabytes == 0) continue;
    auto raised = static_cast<int64_t>(std::ceil(static_cast<double>(megabytes) * factor));
    const int64_t parts = parts_of_node(option, wanted);
    if (largest >= 0 && parts > 0) raised = std::max(megabytes, std::min(raised, largest / parts));
    asked->second = slurm::memory_text(raised);
  }
}

int64_t cut_to_segment(slurm::Directives& asks, int64_t segment, int64_t longest) {
  const auto signal = asks.find("signal");
  if (segment == 0 || signal == asks.end()) return 0;
  const int64_t warning = slurm::parse_signal(signal->second).value().seconds;
  const int64_t limit = longest > 0 ? std::min(segment + warning, longest) : segment + warning;
  if (limit <= warning) return 0;
  const auto time = asks.find("time");
  const int64_t given = time == asks.end() ? -1 : slurm::parse_time(time->second).value();
  if (given >= 0 && given <= limit) return 0;
  asks["time"] = slurm::time_text(limit);
  return limit - warning;
}

bool limit_time(slurm::Directives& asks, int64_t limit, int64_t longest) {
  if (limit == 0) return false;
  constexpr int64_t kForCheckpoint = 120;
  const auto signal = asks.find("signal");
  const int64_t warning =
      signal == asks.end() ? 0 : slurm::parse_signal(signal->second).value().seconds;
  const int64_t whole = limit + std::max<int64_t>(0, warning - kForCheckpoint);
  const int64_t wanted = longest > 0 ? std::min(whole, longest) : whole;
  const auto time = asks.find("time");
  const int64_t given = time == asks.end() ? -1 : slurm::parse_time(time->second).value();
  if (given >= 0 && given <= wanted) return false;
  asks["time"] = slurm::time_text(wanted);
  return true;
}

void shorten_warning(slurm::Directives& asks) {
  if (asks.count("signal") == 0 || asks.count("time") == 0) return;
  const int64_t limit = slurm::parse_time(asks["time"]).value();
  const slurm::EarlySignal warning = slurm::parse_signal(asks["signal"]).value();
  if (limit < 0 || 2 * warning.seconds <= limit) return;
  asks["signal"] = warning.name + "@" + std::to_string(limit / 2);
}

}  // namespace scheduler
