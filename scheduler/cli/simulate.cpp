#include "scheduler/cli/simulate.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/read_file.h"
#include "base/text.h"
#include "base/yaml_load.h"
#include "scheduler/charts/charts.h"
#include "scheduler/simulate/summary.h"
#include "scheduler/simulate/trace_reader.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

struct Row {
  std::string policy;
  Summary summary;
  std::vector<BusyGpus> busy{};  // for the pictures
};

Trace read_trace(const std::string& path) {
  std::optional<std::string> text;
  try {
    text = base::read_file(path);
  } catch (const std::system_error& error) {
    throw Failure(Exit::kFailed, error.what());
  }
  if (!text) throw Failure(Exit::kNotFound, "trace '" + path + "' does not exist");
  try {
    return parse_trace(*text, path);
  } catch (const base::YamlError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
}

std::vector<SimulatedPolicy> policies_of(const std::vector<std::string>& words) {
  std::vector<SimulatedPolicy> policies;
  for (const auto& [policy, word] : kSimulatedPolicies) {
    const bool named = std::find(words.begin(), words.end(), word) != words.end();
    if (named || words.empty()) policies.push_back(policy);
  }
  return policies;
}

std::string hours_text(double hours) { return fixed(hours, hours < 10 ? 2 : 1) + " h"; }

json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"ninety_percent", spread.ninety}};
}

json summary_json(const Row& row) {
  const Summary& summary = row.summary;
  json classes = json::array();
  for (const ClassSummary& of : summary.classes) {
    classes.push_back({{"class", to_string(of.priority)},
                       {"items", of.items},
                       {"wait_seconds", spread_json(of.wait)},
                       {"completion_seconds", spread_json(of.completion)},
                       {"missed_deadlines", of.missed}});
  }
  return {{"policy", row.policy},
          {"makespan_seconds", summary.makespan},
          {"first_result_seconds", summary.first_result},
          {"utilisation", summary.utilisation},
          {"gpu_hours", summary.gpu_hours},
          {"wasted_gpu_hours", summary.wasted},
          {"missed_deadlines", summary.missed},
          {"classes", std::move(classes)}};
}

Table table_of_policies(const std::vector<Row>& rows) {
  Table table({{.title = "POLICY"},
               {.title = "MAKESPAN", .align = Align::kRight},
               {.title = "FIRST RESULT", .align = Align::kRight},
               {.title = "UTILISATION", .align = Align::kRight},
               {.title = "GPU HOURS", .align = Align::kRight},
               {.title = "WASTED", .align = Align::kRight},
               {.title = "MISSED", .align = Align::kRight}});
  for (const Row& row : rows) {
    const Summary& summary = row.summary;
    table.add({{row.policy, style::kBold},
               {hours_text(summary.makespan / kSecondsPerHour)},
               {hours_text(summary.first_result / kSecondsPerHour)},
               {fixed(100 * summary.utilisation, 1) + " %"},
               {fixed(summary.gpu_hours, 0)},
               {fixed(summary.wasted, 1)},
               {std::to_string(summary.missed)}});
  }
  return table;
}

Table table_of_classes(const std::vector<Row>& rows) {
  Table table({{.title = "CLASS"},
               {.title = "POLICY"},
               {.title = "ITEMS", .align = Align::kRight},
               {.title = "WAIT", .align = Align::kRight},
               {.title = "90 %", .align = Align::kRight},
               {.title = "DONE AFTER", .align = Align::kRight},
               {.title = "90 %", .align = Align::kRight},
               {.title = "MISSED", .align = Align::kRight}});
  for (size_t i = 0; i < rows.front().summary.classes.size(); ++i) {
    for (const Row& row : rows) {
      const ClassSummary& of = row.summary.classes[i];
      table.add({{to_string(of.priority)},
                 {row.policy, style::kBold},
                 {std::to_string(of.items)},
                 {duration_text(of.wait.median)},
                 {duration_text(of.wait.ninety)},
                 {duration_text(of.completion.median)},
                 {duration_text(of.completion.ninety)},
                 {std::to_string(of.missed)}});
    }
  }
  return table;
}

charts::Panel panel_of(const Row& row, double gpus) {
  charts::Panel panel{.title = row.policy, .seconds = row.summary.makespan, .gpus = gpus};
  for (const BusyGpus& of : row.busy) {
    panel.bands.push_back(
        {.name = of.priority ? to_string(*of.priority) : "others", .gpus = of.gpus});
  }
  return panel;
}

std::string timeline_of(const std::vector<Row>& rows, double gpus) {
  std::vector<charts::Panel> panels;
  for (const Row& row : rows) panels.push_back(panel_of(row, gpus));
  return charts::timeline_png(panels);
}

std::string waits_of(const std::vector<Row>& rows) {
  std::vector<charts::Waits> all;
  for (size_t i = 0; i < rows.front().summary.classes.size(); ++i) {
    for (const Row& row : rows) {
      const ClassSummary& of = row.summary.classes[i];
      all.push_back({.group = to_string(of.priority),
                     .name = row.policy,
                     .wait_median = of.wait.median,
                     .wait_ninety = of.wait.ninety,
                     .done_median = of.completion.median,
                     .done_ninety = of.completion.ninety});
    }
  }
  return charts::waits_png(all);
}

void write_pictures(const std::string& folder, const std::vector<Row>& rows, double gpus) {
  const base::WriteOptions visible{.durability = base::Durability::kVisible,
                                   .folder = base::Folder::kMake};
  base::write_file_atomically(folder + "/timeline.png", timeline_of(rows, gpus), visible);
  base::write_file_atomically(folder + "/waits.png", waits_of(rows), visible);
}

std::vector<Row> rows_of(const Trace& trace, const SimulateOptions& options) {
  std::vector<Row> rows;
  for (const SimulatedPolicy policy : policies_of(options.policies)) {
    const Simulation simulation = simulate(trace, policy);
    rows.push_back({.policy = base::word_of(kSimulatedPolicies, policy),
                    .summary = summary_of(trace, simulation)});
    if (!options.pictures.empty()) {
      rows.back().busy = busy_gpus(trace, simulation, charts::kColumns);
    }
  }
  return rows;
}

}  // namespace

Exit simulate_trace(const Context& context, const SimulateOptions& options) {
  const Trace trace = read_trace(options.trace);
  const std::vector<Row> rows = rows_of(trace, options);
  const int gpus = trace.config.slurm.gpus_per_node;
  if (!options.pictures.empty()) write_pictures(options.pictures, rows, trace.nodes * gpus);
  json all = json::array();
  for (const Row& row : rows) all.push_back(summary_json(row));
  if (context.print_if_json({{"policies", std::move(all)}})) return Exit::kOk;
  context.out() << base::counted(static_cast<int64_t>(trace.items.size()), "item") << " on "
                << base::counted(trace.nodes, "node") << " with " << base::counted(gpus, "GPU")
                << " each\n\n";
  context.print(table_of_policies(rows));
  context.out() << "\n";
  context.print(table_of_classes(rows));
  return Exit::kOk;
}

}  // namespace scheduler::cli
