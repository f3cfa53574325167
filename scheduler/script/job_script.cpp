#include "scheduler/script/job_script.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/text.h"
#include "scheduler/config/class_widths.h"
#include "scheduler/script/job_limits.h"
#include "scheduler/script/substitute.h"
#include "scheduler/script/template_file.h"
#include "slurm/sbatch/options.h"
#include "slurm/sbatch/values.h"

namespace scheduler {
namespace {

using slurm::Directives;

std::string template_name(Shape shape) { return to_string(shape) + ".sbatch"; }

bool uses_gpus(Shape shape) { return shape != Shape::kCpu; }

// What the width means, unless the template or the site says it in another way.
Directives asks_of_width(const SlurmOptions& slurm, const JobShape& job) {
  Directives asks = {{"nodes", std::to_string(job.width.nodes)}};
  if (uses_gpus(job.shape)) {
    const auto type = slurm.gpu_types.find(job.shape);
    const bool typed = type != slurm.gpu_types.end();
    asks["gres"] =
        "gpu:" + (typed ? type->second + ":" : "") + std::to_string(job.width.gpus_per_node);
  }
  return asks;
}

// One task for each GPU, of as many as there turned out to be.
void add_tasks(Directives& asks, Shape shape, const std::string& where) {
  if (shape != Shape::kNode && shape != Shape::kNodes) return;
  for (const char* given : {"ntasks", "ntasks-per-node", "gpus-per-task"}) {
    if (asks.count(given) != 0) return;
  }
  const int gpus = gpus_on_each_node(slurm::resources_of(asks, where));
  asks["ntasks-per-node"] = std::to_string(std::max(1, gpus));
}

std::string backend_of(const SlurmOptions& slurm, const slurm::Resources& wanted) {
  if (slurm.backend == EngineBackend::kAuto) return slurm::gpus_of(wanted) > 0 ? "cuda" : "cpu";
  return slurm.backend == EngineBackend::kCuda ? "cuda" : "cpu";
}

// Stands before a message about options that come from several places.
std::string place_of(const JobShape& job) {
  const std::string word = to_string(job.shape);
  return "shape " + word + " (" + template_name(job.shape) + ", slurm.options, slurm.shapes." +
         word + (job.priority ? ", policy.classes." + to_string(*job.priority) : "") +
         " and the item's own options together)";
}

Directives without_label(const std::map<std::string, std::string>& options) {
  Directives rest = options;
  rest.erase("job-name");
  return rest;
}

// #SBATCH lines are text for Slurm: nothing is put into them by name.
Directives asks_of_template(const ScriptTemplate& script) {
  if (!script.text.starts_with("#!")) {
    throw ScriptError("script template '" + script.path() +
                      "' must begin with its interpreter, such as #!/bin/bash");
  }
  Directives asks = slurm::parse_directives(script.text, script.path());
  for (const auto& [option, value] : asks) {
    if (value.find("{{") == std::string::npos) continue;
    throw slurm::DirectiveError(script.path() + ": --" + option +
                                " has a name in double braces; what differs from job to job is "
                                "given in the configuration or with the item");
  }
  return asks;
}

// What slurmrestd's request cannot say would be dropped in silence.
void check_transport(const Directives& asks, Transport transport, const std::string& where) {
  if (transport != Transport::kRest) return;
  for (const auto& [name, value] : asks) {
    const slurm::DirectiveOption* option = slurm::find_option(name);
    if (option == nullptr || !option->sbatch_only) continue;
    throw slurm::DirectiveError(where + ": --" + name +
                                " has no field in slurmrestd's requests: remove it, or set "
                                "slurm.transport to cli");
  }
}

// A job that the floor of its class gives waits in Slurm as those of a higher class do.
Directives asks_of_class(const PolicyOptions& policy, const JobShape& job) {
  if (!job.priority) return {};
  Directives asks = policy.options_of(*job.priority);
  if (!job.nice_of) return asks;
  const Directives of_other = policy.options_of(*job.nice_of);
  asks.erase("nice");
  if (const auto nice = of_other.find("nice"); nice != of_other.end()) asks.insert(*nice);
  return asks;
}

Directives merged_asks(const Config& config, const JobShape& job, const ScriptTemplate& script,
                       const std::map<std::string, std::string>& item_options) {
  const Shape shape = job.shape;
  Directives asks = asks_of_width(config.slurm, job);
  asks = slurm::merge(asks, asks_of_template(script));
  asks = slurm::merge(asks, config.slurm.options);
  const auto of_shape = config.slurm.shape_options.find(shape);
  if (of_shape != config.slurm.shape_options.end()) asks = slurm::merge(asks, of_shape->second);
  asks = slurm::merge(asks, asks_of_class(config.policy, job));
  asks = slurm::merge(asks, without_label(item_options));
  const std::string where = place_of(job);
  check_transport(asks, config.slurm.transport, where);
  add_tasks(asks, shape, where);
  slurm::check(asks, where);
  return asks;
}

// A host that the item itself asks for stays, or the job could never start.
void exclude_hosts(Directives& asks, const std::set<std::string>& hosts) {
  const auto wanted = asks.count("nodelist") == 0 ? std::vector<std::string>{}
                                                  : base::split(asks.at("nodelist"), ',');
  std::vector<std::string> out;
  if (asks.count("exclude") != 0) out = base::split(asks.at("exclude"), ',');
  for (const std::string& host : hosts) {
    const auto is_host = [&](const std::string& name) { return name == host; };
    if (std::any_of(wanted.begin(), wanted.end(), is_host)) continue;
    if (std::none_of(out.begin(), out.end(), is_host)) out.push_back(host);
  }
  if (out.empty()) return;
  asks.erase("exclude");
  slurm::add_directive(asks, "exclude", base::joined(out, ","), "hosts with failures");
}

std::map<std::string, std::string> common_values(const Config& config, const ScriptInputs& inputs) {
  const db::Attempt& attempt = inputs.attempt;
  return {{"attempt_folder", attempt.directory},
          {"attempt_number", std::to_string(attempt.number)},
          {"token", attempt.token},
          {"job", config.job_program()},
          {"engine", config.engine},
          {"batch", inputs.batch},
          {"checkpoint_every", std::to_string(config.checkpoint_every.count()) + "ms"},
          {"resume", attempt.resume_from}};
}

// One rank for each GPU, or one where there are none. Either srun starts a task for each rank,
// which it can give a GPU of its own; or a task on each node, which starts the ranks there.
void add_ranks(std::map<std::string, std::string>& values, RankLauncher launcher, int gpus) {
  const std::string ranks = std::to_string(std::max(1, gpus));
  const bool by_task = launcher == RankLauncher::kTask;
  values["gpus_per_node"] = std::to_string(gpus);
  values["ranks_per_node"] = ranks;
  values["tasks_per_node"] = by_task ? ranks : "1";
  values["gpu_binding"] = by_task && gpus > 0 ? "--gpus-per-task=1" : "";
}

// The local cluster keeps a time limit and the signal before it, and gives GPUs as the
// configuration says.
void check_local(const Directives& asks, const ScriptTemplate& script) {
  for (const auto& [option, value] : asks) {
    if (option == "time" || option == "signal") continue;
    throw slurm::DirectiveError(script.path() + ": --" + option +
                                " does not apply to the local cluster: remove it; only --time "
                                "and --signal do, and local.gpus_per_search gives GPUs");
  }
}

// A template of the time when all searches of the local cluster ran on the processor.
void check_backend(const ScriptTemplate& script, int gpus) {
  if (gpus == 0 || script.text.find("--backend cpu") == std::string::npos) return;
  throw ScriptError("script template '" + script.path() +
                    "' searches on the processor, and this machine has GPUs for searches: write "
                    "'--backend {{backend}}' in it, as in the one that came with margayd, or set "
                    "local.gpus to 0");
}

JobScript render_local(const Config& config, const ScriptInputs& inputs) {
  const ScriptTemplate script = read_template(config.templates, "local.sh");
  const int gpus = config.local.gpus_of_search();
  check_backend(script, gpus);
  auto values = common_values(config, inputs);
  values["threads"] = std::to_string(inputs.threads);
  values["backend"] = gpus > 0 ? "cuda" : "cpu";
  values["probe"] = gpus > 0 ? "--probe" : "";
  values["ranks"] = gpus > 1 ? "--nproc " + std::to_string(gpus) : "";
  const std::string text = render_template(script, values);
  Directives asks = slurm::parse_directives(script.text, script.path());
  check_local(asks, script);
  if (config.local.time >= 0) asks["time"] = slurm::time_text(config.local.time);
  if (asks.empty() && gpus == 0) return {.text = text};
  if (asks.count("time") == 0) asks.clear();
  stretch_time(asks, inputs.time_factor, -1);
  shorten_warning(asks);
  if (gpus > 0) asks["gres"] = "gpu:" + std::to_string(gpus);
  return {.text = slurm::with_directives(text, asks), .gpus = gpus};
}

// After jobs that ran into it a longer one, but no retry asks for more than the site lets it.
int64_t limit_of(const Config& config, const ScriptInputs& inputs) {
  const auto longer =
      std::llround(static_cast<double>(inputs.limit) * std::max(1.0, inputs.time_factor));
  if (config.slurm.longest_time < 0) return longer;
  return std::min<int64_t>(longer, config.slurm.longest_time);
}

JobScript render_sbatch(const Config& config, const ScriptInputs& inputs) {
  const JobShape job = inputs.shape.value_or(job_shape_of(config.slurm, config.slurm.shape));
  const Shape shape = job.shape;
  const ScriptTemplate script = read_template(config.templates, template_name(shape));
  Directives asks = merged_asks(config, job, script, inputs.item.options);
  exclude_hosts(asks, inputs.excluded_hosts);
  const Directives before = asks;
  stretch_time(asks, inputs.time_factor, config.slurm.longest_time);
  raise_memory(asks, inputs.memory_factor, config.slurm.largest_memory, place_of(job));
  Directives raised;
  std::set_difference(asks.begin(), asks.end(), before.begin(), before.end(),
                      std::inserter(raised, raised.end()));
  const bool own_time = inputs.item.options.count("time") != 0;
  const int64_t segment = cut_to_segment(asks, own_time ? 0 : inputs.segment, inputs.longest);
  if (segment > 0) raised.erase("time");
  if (segment == 0 && !own_time && limit_time(asks, limit_of(config, inputs), inputs.longest)) {
    raised.erase("time");
    if (limit_of(config, inputs) > inputs.limit) raised["time"] = asks["time"];
  }
  shorten_warning(asks);
  const slurm::Resources wanted = slurm::resources_of(asks, place_of(job));
  auto values = common_values(config, inputs);
  add_ranks(values, config.slurm.launcher, gpus_on_each_node(wanted));
  values["backend"] = backend_of(config.slurm, wanted);
  values["nodes"] = std::to_string(wanted.min_nodes.value_or(1));
  const std::string text = render_template(script, values, config.slurm.setup);
  return {.text = slurm::with_directives(text, asks),
          .gpus = slurm::gpus_of(wanted),
          .nodes = wanted.max_nodes.value_or(1),
          .wide = wanted.max_nodes.value_or(1) > 1,
          .raised = raised,
          .segment = segment};
}

// What a shape has is said in many places; other GPUs from elsewhere would make that untrue.
void check_gpus(const Config& config, Shape shape, const slurm::Directives& asks) {
  const slurm::Resources wanted = slurm::resources_of(asks, place_of({.shape = shape}));
  const int has = width_of(config.slurm, shape).gpus_per_node;
  const int gets = gpus_on_each_node(wanted);
  if (!uses_gpus(shape) || slurm::gpus_of(wanted) == 0 || gets == has) return;
  const std::string of_node =
      shape == Shape::kGpu ? "" : ", and the number of GPUs of a node as slurm.gpus_per_node";
  throw ConfigError("shape " + to_string(shape) + " has " + std::to_string(has) +
                    (has == 1 ? " GPU" : " GPUs") + " on each node, but " + template_name(shape) +
                    " or slurm.shapes." + to_string(shape) + " asks for " + std::to_string(gets) +
                    ": remove the GPUs there, and set their type as slurm.gpu_type" + of_node);
}

void check_nodes(Shape shape, const slurm::Directives& asks) {
  const slurm::Resources wanted = slurm::resources_of(asks, place_of({.shape = shape}));
  const int nodes = wanted.max_nodes.value_or(1);
  if (!has_one_task(shape) || nodes <= 1) return;
  throw ConfigError("a search in the shape " + to_string(shape) + " runs on one node, but " +
                    template_name(shape) + ", slurm.options or slurm.shapes." + to_string(shape) +
                    " asks for " + std::to_string(nodes) +
                    " nodes: remove that; for searches on several nodes set slurm.shape or "
                    "slurm.urgent_shape to nodes, and slurm.nodes to their number");
}

// Those of a class must fit the shape that its items get.
void check_class_options(const Config& config) {
  for (const auto& [priority, options] : config.policy.classes) {
    directives_of(config, class_shape_of(config.slurm, priority), {});
  }
}

// Whether the policy may choose a width for which this shape's script is taken.
bool may_be_chosen(const Config& config, Shape shape) {
  const Width width = width_of(config.slurm, shape);
  const auto classes = class_widths_of(config);
  return std::any_of(classes.begin(), classes.end(), [&](const auto& of_class) {
    const ClassWidths& widths = of_class.second;
    if (shape == Shape::kNodes) return widths.deadline_cap.nodes > 1;
    return uses_gpus(shape) && widths.least <= width && width <= widths.deadline_cap;
  });
}

void check_template(const Config& config, Shape shape) {
  try {
    Config of_shape = config;
    // What the site asks for need not make sense for shapes that it does not use.
    const bool chosen = may_be_chosen(config, shape);
    const bool used = chosen || shape == config.slurm.shape || shape == config.slurm.urgent_shape ||
                      config.slurm.shape_options.count(shape) != 0;
    if (!used) of_shape.slurm.options.clear();
    const JobShape job = job_shape_of(of_shape.slurm, shape);
    render_sbatch(of_shape,
                  {.attempt = {.token = "margay-x-1-a1", .directory = "/x"}, .shape = job});
    const Directives asks = directives_of(of_shape, job, {});
    check_gpus(of_shape, shape, asks);
    check_nodes(shape, asks);
  } catch (const ScriptError& error) {
    throw ConfigError(error.what());
  } catch (const slurm::DirectiveError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace

Directives directives_of(const Config& config, const JobShape& shape,
                         const std::map<std::string, std::string>& item_options) {
  const ScriptTemplate script = read_template(config.templates, template_name(shape.shape));
  return merged_asks(config, shape, script, item_options);
}

Directives directives_of(const Config& config, Shape shape,
                         const std::map<std::string, std::string>& item_options) {
  return directives_of(config, job_shape_of(config.slurm, shape), item_options);
}

JobScript render_job(const Config& config, const ScriptInputs& inputs) {
  switch (config.cluster) {
    case ClusterKind::kLocal:
      return render_local(config, inputs);
    case ClusterKind::kSlurm:
      return render_sbatch(config, inputs);
  }
  return {};
}

std::map<std::string, std::string> job_environment(const Config& config) {
  if (!facts_of(config.cluster).is_remote) return {};
  // Never the daemon's own, which may hold what is nobody's business.
  std::string path = "/usr/local/bin:/usr/bin:/bin";
  if (!config.slurm.commands.empty()) path = config.slurm.commands + ":" + path;
  return {{"PATH", path}, {"LANG", "C.UTF-8"}};
}

void check_job_program(const Config& config) {
  const std::string program = config.job_program();
  if (access(program.c_str(), X_OK) == 0) return;
  const std::string where = config.job.empty() ? " beside the engine" : "";
  throw ConfigError("margay-job, which job scripts run the engine by, was looked for" + where +
                    " at '" + program + "' and cannot be run: " + std::strerror(errno) +
                    "; put it there or set 'job' in the configuration");
}

void check_script_templates(const Config& config) {
  if (facts_of(config.cluster).takes_options) {
    for (const auto& [shape, word] : kShapes) check_template(config, shape);
    try {
      check_class_options(config);
    } catch (const slurm::DirectiveError& error) {
      throw ConfigError(error.what());
    }
    return;
  }
  try {
    render_local(config, {.attempt = {.token = "margay-x-1-a1", .directory = "/x"}});
  } catch (const ScriptError& error) {
    throw ConfigError(std::string(error.what()) + "; set 'templates' in the configuration");
  } catch (const slurm::DirectiveError& error) {
    throw ConfigError(error.what());
  }
}

}  // namespace scheduler
