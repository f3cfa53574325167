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
#include "scheduler/cli/history.h"
#include "scheduler/simulate/summary.h"
#include "scheduler/simulate/trace_reader.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// A trace to simulate, and what is changed in it; empty: nothing.
struct Variant {
  std::string change{};
  Trace trace{};
};

struct Row {
  std::string policy{};
  std::string change{};  // of the trace
  double gpus = 0;       // of the site
  Summary summary{};
  std::vector<BusyGpus> busy{};  // for the pictures
};

std::string read_trace(const std::string& path) {
  std::optional<std::string> text;
  try {
    text = base::read_file(path);
  } catch (const std::system_error& error) {
    throw Failure(Exit::kFailed, error.what());
  }
  if (!text) throw Failure(Exit::kNotFound, "trace '" + path + "' does not exist");
  return *text;
}

// "site.nodes=18; policy.classes.urgent.cap=4 nodes"
std::vector<TraceChange> changes_of(const std::string& what_if) {
  std::vector<TraceChange> changes;
  for (const std::string& word : base::split(what_if, ';')) {
    const size_t equals = word.find('=');
    const std::string key = base::trimmed(word.substr(0, equals));
    if (equals == std::string::npos || key.empty()) {
      throw Failure(Exit::kUsage, "invalid change '" + what_if +
                                      "' for --what-if: expected KEY=VALUE, such as site.nodes=18");
    }
    changes.push_back({.key = key, .value = base::trimmed(word.substr(equals + 1))});
  }
  return changes;
}

std::string plural_were(int64_t count) { return count == 1 ? " was" : " were"; }

// What the trace lacks of the history, a sentence; empty: nothing.
std::string left_out_text(const HistoryTrace& history) {
  std::string text;
  if (history.given_up > 0) {
    text = base::counted(history.given_up, "item") + plural_were(history.given_up) +
           " cancelled or failed";
  }
  if (history.unknown > 0) {
    text += (text.empty() ? "" : "; ") + std::string("of ") +
            base::counted(history.unknown, "item") + " it is not known how long it takes";
  }
  return text.empty() ? "" : "Left out: " + text + ".";
}

HistoryTrace trace_text(const Context& context, const SimulateOptions& options) {
  if (options.from_history.empty()) return {.yaml = read_trace(options.trace)};
  HistoryTrace history = trace_of_history(context, options.from_history);
  if (!options.save.empty()) {
    base::write_file_atomically(options.save, history.yaml,
                                {.durability = base::Durability::kVisible});
  }
  return history;
}

std::vector<Variant> variants_of(const std::string& yaml, const SimulateOptions& options) {
  const std::string name = options.from_history.empty() ? options.trace : "the daemon's history";
  std::vector<Variant> variants;
  try {
    variants.push_back({.trace = parse_trace(yaml, name)});
  } catch (const base::YamlError& error) {
    throw Failure(Exit::kFailed, error.what());
  }
  for (const std::string& what_if : options.what_if) {
    const std::vector<TraceChange> changes = changes_of(what_if);
    try {
      variants.push_back({.change = to_string(changes), .trace = parse_trace(yaml, name, changes)});
    } catch (const base::YamlError& error) {
      throw Failure(Exit::kUsage, error.what());
    }
  }
  return variants;
}

std::vector<SimulatedPolicy> policies_of(const SimulateOptions& options) {
  const std::vector<std::string>& words = options.policies;
  if (words.empty() && !options.what_if.empty()) return {SimulatedPolicy::kOurs};
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
          {"what_if", row.change},
          {"makespan_seconds", summary.makespan},
          {"first_result_seconds", summary.first_result},
          {"utilisation", summary.utilisation},
          {"gpu_hours", summary.gpu_hours},
          {"wasted_gpu_hours", summary.wasted},
          {"missed_deadlines", summary.missed},
          {"classes", std::move(classes)}};
}

// A change of the trace is named where there are several.
bool compares_traces(const std::vector<Row>& rows) {
  return rows.front().change != rows.back().change;
}

std::string change_text(const Row& row) { return row.change.empty() ? "as it is" : row.change; }

std::string name_of(const Row& row, const std::vector<Row>& rows) {
  return row.policy + (compares_traces(rows) ? ", " + change_text(row) : "");
}

Table table_of_policies(const std::vector<Row>& rows) {
  std::vector<Column> columns = {{.title = "POLICY"}};
  if (compares_traces(rows)) columns.push_back({.title = "TRACE", .least = 20});
  for (const char* title :
       {"MAKESPAN", "FIRST RESULT", "UTILISATION", "GPU HOURS", "WASTED", "MISSED"}) {
    columns.push_back({.title = title, .align = Align::kRight});
  }
  Table table(columns);
  for (const Row& row : rows) {
    const Summary& summary = row.summary;
    std::vector<Cell> cells = {{row.policy, style::kBold}};
    if (compares_traces(rows)) cells.push_back({change_text(row)});
    for (const std::string& text :
         {hours_text(summary.makespan / kSecondsPerHour),
          hours_text(summary.first_result / kSecondsPerHour),
          fixed(100 * summary.utilisation, 1) + " %", fixed(summary.gpu_hours, 0),
          fixed(summary.wasted, 1), std::to_string(summary.missed)}) {
      cells.push_back({text});
    }
    table.add(std::move(cells));
  }
  return table;
}

Table table_of_classes(const std::vector<Row>& rows) {
  std::vector<Column> columns = {{.title = "CLASS"}, {.title = "POLICY"}};
  if (compares_traces(rows)) columns.push_back({.title = "TRACE", .least = 20});
  for (const char* title : {"ITEMS", "WAIT", "90 %", "DONE AFTER", "90 %", "MISSED"}) {
    columns.push_back({.title = title, .align = Align::kRight});
  }
  Table table(columns);
  for (size_t i = 0; i < rows.front().summary.classes.size(); ++i) {
    for (const Row& row : rows) {
      const ClassSummary& of = row.summary.classes[i];
      std::vector<Cell> cells = {{to_string(of.priority)}, {row.policy, style::kBold}};
      if (compares_traces(rows)) cells.push_back({change_text(row)});
      for (const std::string& text :
           {std::to_string(of.items), duration_text(of.wait.median), duration_text(of.wait.ninety),
            duration_text(of.completion.median), duration_text(of.completion.ninety),
            std::to_string(of.missed)}) {
        cells.push_back({text});
      }
      table.add(std::move(cells));
    }
  }
  return table;
}

charts::Panel panel_of(const Row& row, const std::string& title) {
  charts::Panel panel{
      .title = title,
      .note = "all done after " + hours_text(row.summary.makespan / kSecondsPerHour) + ", " +
              fixed(100 * row.summary.utilisation, 1) + " % of the GPUs' time until then",
      .seconds = row.summary.makespan,
      .gpus = row.gpus};
  for (const BusyGpus& of : row.busy) {
    panel.bands.push_back(
        {.name = of.priority ? to_string(*of.priority) : "others", .gpus = of.gpus});
  }
  return panel;
}

std::string timeline_of(const std::vector<Row>& rows) {
  std::vector<charts::Panel> panels;
  for (const Row& row : rows) panels.push_back(panel_of(row, name_of(row, rows)));
  return charts::timeline_png(panels);
}

std::string waits_of(const std::vector<Row>& rows) {
  std::vector<charts::Waits> all;
  for (size_t i = 0; i < rows.front().summary.classes.size(); ++i) {
    for (const Row& row : rows) {
      const ClassSummary& of = row.summary.classes[i];
      all.push_back({.group = to_string(of.priority),
                     .name = name_of(row, rows),
                     .wait_median = of.wait.median,
                     .wait_ninety = of.wait.ninety,
                     .done_median = of.completion.median,
                     .done_ninety = of.completion.ninety});
    }
  }
  return charts::waits_png(all);
}

void write_pictures(const std::string& folder, const std::vector<Row>& rows) {
  const base::WriteOptions visible{.durability = base::Durability::kVisible,
                                   .folder = base::Folder::kMake};
  base::write_file_atomically(folder + "/timeline.png", timeline_of(rows), visible);
  base::write_file_atomically(folder + "/waits.png", waits_of(rows), visible);
}

Row row_of(const Variant& variant, SimulatedPolicy policy, bool draws) {
  const Trace& trace = variant.trace;
  const Simulation simulation = simulate(trace, policy);
  Row row{.policy = base::word_of(kSimulatedPolicies, policy),
          .change = variant.change,
          .gpus = static_cast<double>(trace.nodes) * trace.config.slurm.gpus_per_node,
          .summary = summary_of(trace, simulation)};
  if (draws) row.busy = busy_gpus(trace, simulation, charts::kColumns);
  return row;
}

}  // namespace

Exit simulate_trace(const Context& context, const SimulateOptions& options) {
  if (options.trace.empty() == options.from_history.empty()) {
    throw Failure(Exit::kUsage, "give either a trace or --from-history");
  }
  if (!options.save.empty() && options.from_history.empty()) {
    throw Failure(Exit::kUsage, "--save writes the trace of --from-history, which is not given");
  }
  const HistoryTrace text = trace_text(context, options);
  const std::vector<Variant> variants = variants_of(text.yaml, options);
  std::vector<Row> rows;
  for (const SimulatedPolicy policy : policies_of(options)) {
    for (const Variant& variant : variants) {
      rows.push_back(row_of(variant, policy, !options.pictures.empty()));
    }
  }
  if (!options.pictures.empty()) write_pictures(options.pictures, rows);
  json all = json::array();
  for (const Row& row : rows) all.push_back(summary_json(row));
  if (context.print_if_json(
          {{"policies", std::move(all)}, {"left_out", text.given_up + text.unknown}}))
    return Exit::kOk;
  const Trace& trace = variants.front().trace;
  context.out() << base::counted(static_cast<int64_t>(trace.items.size()), "item") << " on "
                << base::counted(trace.nodes, "node") << " with "
                << base::counted(trace.config.slurm.gpus_per_node, "GPU") << " each\n";
  if (const std::string left_out = left_out_text(text); !left_out.empty()) {
    context.out() << left_out << "\n";
  }
  context.out() << "\n";
  context.print(table_of_policies(rows));
  context.out() << "\n";
  context.print(table_of_classes(rows));
  return Exit::kOk;
}

}  // namespace scheduler::cli
