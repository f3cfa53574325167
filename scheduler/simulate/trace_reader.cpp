#include "scheduler/simulate/trace_reader.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/yaml_section.h"
#include "scheduler/config/yaml_reader.h"
#include "scheduler/simulate/virtual_cluster.h"

namespace scheduler {
namespace {

using std::chrono::milliseconds;

constexpr int kMostGpusOfNode = 1024;
constexpr int64_t kMostGpus = 1'000'000;
constexpr int64_t kMostItems = 2'000'000;
constexpr int kMostJobs = 1'000'000'000;
constexpr double kMostSpread = 3;
// Wide, so that only slips are refused.
constexpr base::Limits kWork{kLeastWorkHours, 1e6, " GPU hours"};
constexpr base::Limits kSeconds{0, 1e6, " s"};
constexpr base::Limits kLoss{0, 1000};
// A site's own history is longer than what people write.
constexpr base::YamlSize kMostOfTrace{.bytes = size_t{64} << 20, .nodes = 4'000'000};

// An entry of `items`: one item, or several that arrive one behind another.
struct Arrivals {
  int count = 1;
  milliseconds start{0};
  milliseconds every{0};
  db::Priority priority = db::Priority::kNormal;
  double work_hours = 0;
  double actual_hours = 0;  // 0: as `spread` has it
  double spread = 0;        // standard deviation of log(actual work / expected work)
  std::optional<milliseconds> deadline_after{};
  std::string group{};
};

// An entry of `running`: one job of somebody else, or several.
struct Running {
  int count = 1;
  std::optional<int> gpus{};
  std::optional<int> nodes{};  // whole ones
  std::optional<milliseconds> rest{};
  std::optional<milliseconds> rest_up_to{};  // evenly distributed
};

double seconds_of(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

Reader count_into(int& target) {
  return [&target](const base::YamlValue& value) { target = value.integer(1); };
}

Reader given_count_into(std::optional<int>& target) {
  return [&target](const base::YamlValue& value) { target = value.integer(1); };
}

Reader given_duration_into(std::optional<milliseconds>& target) {
  return [&target](const base::YamlValue& value) { target = value.duration(); };
}

Reader hours_into(double& target) {
  return [&target](const base::YamlValue& value) { target = value.number_within(kWork); };
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
  read_section(section, {{"count", count_into(arrivals.count)},
                         {"start", duration_into(arrivals.start)},
                         {"every", duration_into(arrivals.every)},
                         {"class", class_into(arrivals.priority)},
                         {"work_gpu_hours", hours_into(arrivals.work_hours)},
                         {"actual_gpu_hours", hours_into(arrivals.actual_hours)},
                         {"spread", spread_into(arrivals.spread)},
                         {"deadline_after", given_duration_into(arrivals.deadline_after)},
                         {"group", text_into(arrivals.group)}});
  section.value("work_gpu_hours");  // refused where missing
  if (arrivals.actual_hours > 0 && arrivals.spread > 0) {
    value.refuse("has both actual_gpu_hours and spread: remove one of them");
  }
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

Running running_of(const base::YamlValue& value) {
  Running running;
  const base::YamlSection section = value.as_section();
  read_section(section, {{"count", count_into(running.count)},
                         {"gpus", given_count_into(running.gpus)},
                         {"nodes", given_count_into(running.nodes)},
                         {"rest", given_duration_into(running.rest)},
                         {"rest_up_to", given_duration_into(running.rest_up_to)}});
  if (running.gpus && running.nodes) {
    value.refuse("has both gpus (of one node) and nodes (whole ones): remove one of them");
  }
  if (running.rest.has_value() == running.rest_up_to.has_value()) {
    value.refuse(
        "needs either rest, the time until the job ends, or rest_up_to, the longest of times that "
        "are evenly distributed");
  }
  if (running.count > kMostGpus) value.refuse("has more jobs than a site may have GPUs: 1000000");
  return running;
}

Reader running_into(std::vector<Running>& target) {
  return [&target](const base::YamlValue& value) {
    for (const base::YamlValue& entry : value.items()) target.push_back(running_of(entry));
  };
}

// Between 0 and 1, neither included. Not std::uniform_real_distribution, which differs between
// libraries.
double even_number(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
}

// By the method of Box and Muller. Not std::normal_distribution, for the same reason.
double normal_number(std::mt19937_64& random) {
  const double radius = std::sqrt(-2 * std::log(even_number(random)));
  return radius * std::cos(2 * std::numbers::pi * even_number(random));
}

// Throws std::invalid_argument where the jobs have no room.
std::vector<RunningJob> running_jobs(const std::vector<Running>& all, const Trace& trace,
                                     int seed) {
  // Its numbers are others than those of the items, which do not change with the jobs.
  std::mt19937_64 random(~static_cast<uint64_t>(seed));
  const int gpus_per_node = trace.config.slurm.gpus_per_node;
  VirtualCluster cluster(trace.nodes, gpus_per_node);
  std::vector<RunningJob> jobs;
  for (const Running& running : all) {
    RunningJob job{.width = {.gpus_per_node = running.gpus.value_or(1)}};
    if (running.nodes) job.width = {.nodes = *running.nodes, .gpus_per_node = gpus_per_node};
    for (int i = 0; i < running.count; ++i) {
      job.rest = running.rest ? seconds_of(*running.rest)
                              : seconds_of(*running.rest_up_to) * even_number(random);
      cluster.hold(job.width, job.rest);
      jobs.push_back(job);
    }
  }
  return jobs;
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
      item.actual_work =
          arrivals.actual_hours > 0 ? arrivals.actual_hours * kSecondsPerHour : item.work;
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

std::string to_string(const std::vector<TraceChange>& changes) {
  std::string text;
  for (const TraceChange& change : changes) {
    text += (text.empty() ? "" : "; ") + change.key + "=" + change.value;
  }
  return text;
}

Trace parse_trace(const std::string& yaml, const std::string& name,
                  const std::vector<TraceChange>& changes) {
  const std::string place = name + (changes.empty() ? "" : " with " + to_string(changes));
  base::YamlSection top = base::parse_yaml(yaml, place, kMostOfTrace);
  for (const TraceChange& change : changes) top = top.with(change.key, change.value);
  Trace trace;
  trace.config.cluster = ClusterKind::kSlurm;
  trace.config.policy.widths = WidthsBy::kChosen;
  std::vector<Arrivals> arrivals;
  std::vector<Running> running;
  milliseconds tick{1000};
  int seed = 1;
  read_section(top, {{"seed", count_into(seed)},
                     {"tick", duration_into(tick)},
                     {"site", site_into(trace)},
                     {"model", model_into(trace.model)},
                     {"policy", policy_into(trace.config.policy)},
                     {"running", running_into(running)},
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
    throw base::YamlError("'" + place + "': " + error.what());
  }
  try {
    trace.running = running_jobs(running, trace, seed);
  } catch (const std::invalid_argument&) {
    top.refuse("running", "has more jobs than have room on " + base::counted(trace.nodes, "node") +
                              " with " + base::counted(trace.config.slurm.gpus_per_node, "GPU") +
                              " each");
  }
  trace.items = items_of(arrivals, seed);
  return trace;
}

}  // namespace scheduler
