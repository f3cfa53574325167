// Implements directives.h: options as numbers, and contradictions between options.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

std::string text_of(const Directives& directives, const std::string& option) {
  const auto given = directives.find(option);
  return given == directives.end() ? "" : given->second;
}

std::optional<int> count_of(const Directives& directives, const std::string& option) {
  const auto given = directives.find(option);
  if (given == directives.end()) return std::nullopt;
  return static_cast<int>(parse_count(given->second).value());
}

int64_t gpus_in(const std::string& text) { return text.empty() ? 0 : parse_gpus(text)->count; }

// 0: none, or not known before the job has its nodes.
int64_t gpus_on_each_node(const Resources& wanted) {
  if (!wanted.gpus_per_node.empty()) return gpus_in(wanted.gpus_per_node);
  if (const int64_t gpus = gpus_of_gres(wanted.gres); gpus > 0) return gpus;
  if (!wanted.gpus_per_task.empty() && wanted.tasks_per_node) {
    return gpus_in(wanted.gpus_per_task) * *wanted.tasks_per_node;
  }
  if (wanted.max_nodes != 1) return 0;
  if (!wanted.gpus.empty()) return gpus_in(wanted.gpus);
  if (!wanted.gpus_per_task.empty())
    return gpus_in(wanted.gpus_per_task) * wanted.tasks.value_or(1);
  return 0;
}

class Checker {
 public:
  Checker(const Directives& directives, const Resources& wanted, const std::string& where)
      : directives_(directives), wanted_(wanted), where_(where) {}

  void check() const {
    check_memory();
    check_gpus();
    check_tasks();
    check_hosts();
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw DirectiveError(where_ + ": " + why);
  }
  bool has(const std::string& option) const { return directives_.count(option) != 0; }

  void check_memory() const {
    std::string first;
    for (const char* option : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
      if (!has(option)) continue;
      if (!first.empty()) {
        fail("--" + first + " and --" + option + " exclude each other: give one of them");
      }
      first = option;
    }
    if (has("mem-per-gpu") && gpus_on_each_node(wanted_) == 0) {
      fail(
          "--mem-per-gpu needs the number of GPUs on each node: give --gres=gpu:N or "
          "--gpus-per-node=N with it");
    }
  }

  void check_gpus() const {
    const int64_t by_gres = gpus_of_gres(wanted_.gres);
    const int64_t by_node = gpus_in(wanted_.gpus_per_node);
    if (by_gres > 0 && by_node > 0 && by_gres != by_node) {
      fail("--gres=" + wanted_.gres + " and --gpus-per-node=" + wanted_.gpus_per_node +
           " differ: give one of them");
    }
    if (has("gpus-per-task") && !wanted_.tasks && !wanted_.tasks_per_node) {
      fail("--gpus-per-task needs --ntasks or --ntasks-per-node");
    }
    const int64_t each = gpus_on_each_node(wanted_);
    const int64_t total = gpus_in(wanted_.gpus);
    if (total > 0 && each > 0 && wanted_.min_nodes &&
        (total < each * *wanted_.min_nodes || total > each * *wanted_.max_nodes)) {
      fail("--gpus=" + wanted_.gpus + " does not fit " + std::to_string(each) +
           " GPUs on each of --nodes=" + text_of(directives_, "nodes"));
    }
    if (total > 0 && has("gpus-per-task") && wanted_.tasks &&
        total != gpus_in(wanted_.gpus_per_task) * *wanted_.tasks) {
      fail("--gpus=" + wanted_.gpus + " is not --gpus-per-task=" + wanted_.gpus_per_task +
           " for --ntasks=" + std::to_string(*wanted_.tasks));
    }
  }

  void check_tasks() const {
    if (!wanted_.tasks || !wanted_.min_nodes) return;
    const std::string tasks = "--ntasks=" + std::to_string(*wanted_.tasks);
    const std::string nodes = "--nodes=" + text_of(directives_, "nodes");
    if (*wanted_.tasks < *wanted_.min_nodes) {
      fail(tasks + " is less than one task for each of " + nodes);
    }
    const int64_t room =
        static_cast<int64_t>(wanted_.tasks_per_node.value_or(0)) * *wanted_.max_nodes;
    if (wanted_.tasks_per_node && *wanted_.tasks > room) {
      fail(tasks + " is more than --ntasks-per-node=" + std::to_string(*wanted_.tasks_per_node) +
           " on " + nodes);
    }
  }

  // Hosts are compared by their spelling, since only the cluster knows what a range expands to.
  void check_hosts() const {
    const auto out = base::split(wanted_.exclude, ',');
    for (const std::string& host : base::split(wanted_.nodelist, ',')) {
      if (!host.empty() && std::find(out.begin(), out.end(), host) != out.end()) {
        fail("'" + host + "' is both in --nodelist and in --exclude");
      }
    }
  }

  const Directives& directives_;
  const Resources& wanted_;
  const std::string& where_;
};

void read_numbers(const Directives& directives, Resources& wanted) {
  if (const std::string time = text_of(directives, "time"); !time.empty()) {
    const int64_t seconds = parse_time(time).value();
    wanted.time_minutes = seconds < 0 ? -1 : (seconds + 59) / 60;
  }
  if (const std::string nodes = text_of(directives, "nodes"); !nodes.empty()) {
    const NodeRange range = parse_nodes(nodes).value();
    wanted.min_nodes = range.least;
    wanted.max_nodes = range.most;
  }
  if (const std::string disk = text_of(directives, "tmp"); !disk.empty()) {
    wanted.temporary_disk_mb = parse_memory(disk).value();
  }
  wanted.tasks = count_of(directives, "ntasks");
  wanted.tasks_per_node = count_of(directives, "ntasks-per-node");
  wanted.cpus_per_task = count_of(directives, "cpus-per-task");
  if (const std::string signal = text_of(directives, "signal"); !signal.empty()) {
    const EarlySignal early = parse_signal(signal).value();
    wanted.signal_name = early.name;
    wanted.signal_delay = early.seconds;
  }
  if (const std::string nice = text_of(directives, "nice"); !nice.empty()) {
    wanted.nice = std::stoi(nice);
  }
  if (const auto exclusive = directives.find("exclusive"); exclusive != directives.end()) {
    wanted.exclusive = exclusive->second.empty() ? "exclusive" : exclusive->second;
  }
}

void read_memory(const Directives& directives, Resources& wanted) {
  if (const std::string memory = text_of(directives, "mem"); !memory.empty()) {
    wanted.memory_per_node_mb = parse_memory(memory).value();
  }
  if (const std::string memory = text_of(directives, "mem-per-cpu"); !memory.empty()) {
    wanted.memory_per_cpu_mb = parse_memory(memory).value();
  }
  if (const std::string memory = text_of(directives, "mem-per-gpu"); !memory.empty()) {
    wanted.memory_per_node_mb = parse_memory(memory).value() * gpus_on_each_node(wanted);
  }
}

Resources read_resources(const Directives& directives) {
  const auto text = [&](const char* option) { return text_of(directives, option); };
  Resources wanted{.partition = text("partition"),
                   .qos = text("qos"),
                   .account = text("account"),
                   .reservation = text("reservation"),
                   .constraint = text("constraint"),
                   .licenses = text("licenses"),
                   .mail_user = text("mail-user"),
                   .mail_type = text("mail-type"),
                   .gres = text("gres"),
                   .gpus = text("gpus"),
                   .gpus_per_node = text("gpus-per-node"),
                   .gpus_per_task = text("gpus-per-task"),
                   .nodelist = text("nodelist"),
                   .exclude = text("exclude"),
                   .error_path = text("error"),
                   .directory = text("chdir"),
                   .begin = text("begin"),
                   .deadline = text("deadline"),
                   .wckey = text("wckey")};
  // "none" serves on sbatch's command line, against an environment variable that asks for some.
  if (wanted.gres == "none") wanted.gres.clear();
  read_numbers(directives, wanted);
  read_memory(directives, wanted);
  return wanted;
}

}  // namespace

void check(const Directives& directives, const std::string& where) {
  resources_of(directives, where);
}

Resources resources_of(const Directives& directives, const std::string& where) {
  // Directives may come from anywhere, so values are checked before they are read as numbers.
  Directives canonical;
  for (const auto& [option, value] : directives) add_directive(canonical, option, value, where);
  Resources wanted = read_resources(canonical);
  Checker(canonical, wanted, where).check();
  // The same number of GPUs given in two ways is meant once, not added.
  if (gpus_of_gres(wanted.gres) > 0) wanted.gpus_per_node.clear();
  return wanted;
}

int gpus_of(const Resources& resources) {
  int64_t gpus = gpus_on_each_node(resources) * resources.max_nodes.value_or(1);
  if (!resources.gpus.empty()) {
    gpus = gpus_in(resources.gpus);
  } else if (!resources.gpus_per_task.empty() && resources.tasks) {
    gpus = gpus_in(resources.gpus_per_task) * *resources.tasks;
  }
  return static_cast<int>(std::min<int64_t>(gpus, std::numeric_limits<int>::max()));
}

}  // namespace slurm
