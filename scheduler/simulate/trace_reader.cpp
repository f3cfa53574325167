#include "scheduler/simulate/trace_reader.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/yaml_section.h"
#include "scheduler/config/yaml_reader.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;

constexpr int kMostGpusOfNode = 1024;
constexpr int64_t kMostGpus = 1'000'000;
constexpr int64_t kMostItems = 2'000'000;
constexpr int kMostJobs = 1'000'000'000;
constexpr double kMostSpread = 3;
// Wide, so that only slips are refused.
constexpr base::Limits kWork{1e-6, 1e6, " GPU hours"};
constexpr base::Limits kSeconds{0, 1e6, " s"};
constexpr base::Limits kLoss{0, 1000};

// An entry of `items`: one item, or several that arrive one behind another.
struct Arrivals {
  int count = 1;
  milliseconds start{0};
  milliseconds every{0};
  db::Priority priority = db::Priority::kNormal;
  double work_hours = 0;
  double spread = 0;  // standard deviation of log(actual work / expected work)
  std::optional<milliseconds> deadline_after{};
  std::string group{};
};

double seconds_of(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

Reader count_into(int& target) {
  return [&target](const base::YamlValue& value) { target = value.integer(1); };
}

Reader seconds_into(double& target) {
  return [&target](const base::YamlValue& value) { target = value.number_within(kSeconds); };
}

Reader class_into(db::Priority& target) {
  return [&target](const base::YamlValue& value) {
    const std::string word = value.text();
    const auto priority = db::parse<db::Priority>(word);
    if (!priority || *priority == db::Priority::kLive) {
      value.refuse("must be low, normal, high or urgent, not '" + word + "'");
    }
    target = *priority;
  };
}

Reader spread_into(double& target) {
  return [&target](const base::YamlValue& value) {
    target = value.number_at_least(0);
    if (target > kMostSpread) {
      value.refuse(
          "must be at most 3: it is the standard deviation of the logarithm, 0.2 for about "
          "20 %");
    }
  };
}

// {1: 0, 4: 0.01, 64: 0.04}
Reader losses_into(std::map<int, double>& target) {
  return [&target](const base::YamlValue& value) {
    const base::YamlSection section = value.as_section();
    target.clear();
    for (const std::string& key : section.keys()) {
      int gpus = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), gpus);
      if (error != std::errc() || end != key.data() + key.size() || gpus < 1) {
        section.refuse(key, "must be a number of GPUs");
      }
      target[gpus] = section.value(key).number_within(kLoss);
    }
  };
}

Reader model_into(RuntimeModel& model) {
  const Readers start_up = {{"gpu", seconds_into(model.start_seconds_gpu)},
                            {"node", seconds_into(model.start_seconds_node)},
                            {"nodes", seconds_into(model.start_seconds_nodes)}};
  return section_into({{"serial_seconds", seconds_into(model.serial_seconds)},
                       {"start_up", section_into(start_up)},
                       {"straggler", losses_into(model.straggler_loss)},
                       {"sigma", spread_into(model.sigma)}});
}

Reader site_into(Trace& trace) {
  return [&trace](const base::YamlValue& value) {
    SlurmOptions& slurm = trace.config.slurm;
    slurm.max_jobs = kMostJobs;
    read_section(value.as_section(), {{"nodes", count_into(trace.nodes)},
                                      {"gpus_per_node", count_into(slurm.gpus_per_node)},
                                      {"max_jobs", count_into(slurm.max_jobs)},
                                      {"max_pending", count_into(slurm.max_pending)}});
    if (trace.nodes > kMostNodes || slurm.gpus_per_node > kMostGpusOfNode ||
        int64_t{trace.nodes} * slurm.gpus_per_node > kMostGpus) {
      value.refuse(
          "is too large: at most 100000 nodes, 1024 GPUs on each and 1000000 GPUs in all can be "
          "simulated");
    }
  };
}

Arrivals arrivals_of(const base::YamlValue& value) {
  Arrivals arrivals;
  const base::YamlSection section = value.as_section();
  const Reader work = [&](const base::YamlValue& hours) {
    arrivals.work_hours = hours.number_within(kWork);
  };
  const Reader deadline = [&](const base::YamlValue& time) {
    arrivals.deadline_after = time.duration();
  };
  read_section(section, {{"count", count_into(arrivals.count)},
                         {"start", duration_into(arrivals.start)},
                         {"every", duration_into(arrivals.every)},
                         {"class", class_into(arrivals.priority)},
                         {"work_gpu_hours", work},
                         {"spread", spread_into(arrivals.spread)},
                         {"deadline_after", deadline},
                         {"group", text_into(arrivals.group)}});
  section.value("work_gpu_hours");  // refused where missing
  return arrivals;
}

Reader arrivals_into(std::vector<Arrivals>& target) {
  return [&target](const base::YamlValue& value) {
    int64_t items = 0;
    for (const base::YamlValue& entry : value.items()) {
      target.push_back(arrivals_of(entry));
      items += target.back().count;
      if (items > kMostItems)
        entry.refuse("brings the trace to more than 2000000 items; lower count");
    }
    if (items == 0) value.refuse("has no items: there is nothing to simulate");
  };
}

// By the method of Box and Muller. Not std::normal_distribution, which differs between libraries.
double normal_number(std::mt19937_64& random) {
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<TraceItem> items_of(const std::vector<Arrivals>& all, int seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::map<std::string, int64_t> groups;
  std::vector<TraceItem> items;
  for (const Arrivals& arrivals : all) {
    const auto group = groups.try_emplace(arrivals.group, groups.size()).first->second;
    TraceItem item{.priority = arrivals.priority,
                   .group = group,
                   .work = arrivals.work_hours * kSecondsPerHour};
    for (int i = 0; i < arrivals.count; ++i) {
      item.arrival = seconds_of(arrivals.start) + i * seconds_of(arrivals.every);
      item.actual_work = item.work;
      if (arrivals.spread > 0)
        item.actual_work *= std::exp(arrivals.spread * normal_number(random));
      if (arrivals.deadline_after) {
        item.deadline = item.arrival + seconds_of(*arrivals.deadline_after);
      }
      items.push_back(item);
    }
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const TraceItem& a, const TraceItem& b) { return a.arrival < b.arrival; });
  return items;
}

}  // namespace

Trace parse_trace(const std::string& yaml, const std::string& name) {
  Trace trace;
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  std::vector<Arrivals> arrivals;
  milliseconds tick{1000};
  int seed = 1;
  const base::YamlSection top = base::parse_yaml(yaml, name);
  read_section(top, {{"seed", count_into(seed)},
                     {"tick", duration_into(tick)},
                     {"site", site_into(trace)},
                     {"model", model_into(trace.model)},
                     {"policy", policy_into(trace.config.policy)},
                     {"items", arrivals_into(arrivals)}});
  top.value("site");  // refused where missing
  top.value("items");
  if (!trace.config.policy.shares.empty()) {
    top.value("policy").refuse(
        "has shares, but a simulation does not share the GPUs between groups: remove them");
  }
  if (tick < milliseconds(1)) top.refuse("tick", "must be at least 1ms");
  trace.tick = seconds_of(tick);
  try {
    check_policy(trace.config);
  } catch (const ConfigError& error) {
    throw base::YamlError("'" + name + "': " + error.what());
  }
  trace.items = items_of(arrivals, seed);
  return trace;
}

}  // namespace scheduler
