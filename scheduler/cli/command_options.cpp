#include "scheduler/cli/command_options.h"

#include "base/text.h"
#include "scheduler/cli/items/list_columns.h"
#include "scheduler/cli/terminal/arguments.h"

namespace scheduler::cli {

void add_filters(CLI::App& command, Filters& filters, ByPriority by_priority) {
  add_option(command, "--state", filters.state, "STATES",
             "Only items in these states: queued, held, active, done, failed, cancelled, "
             "quarantined");
  if (by_priority == ByPriority::kYes) {
    add_option(command, "--priority", filters.priority, "PRIORITIES",
               "Only items of these priorities: low, normal, high, urgent");
  }
  add_option(command, "--label", filters.label, "TEXT", "Only items with this label");
  CLI::Option* mine = command.add_flag("--mine", filters.mine, "Only your own items");
  add_option(command, "--owner", filters.owner, "USER", "Only items of this user")->excludes(mine);
  add_option(command, "--template", filters.search_template, "NAME",
             "Only items with this template: NAME or NAME@VERSION");
}

void add_items(CLI::App& command, Selection& selection, ByPriority by_priority,
               const std::string& if_none) {
  add_option(command, "ITEM", selection.words, "",
             "Numbers and ranges (1-20,31), last, all, or names of micrographs" + if_none);
  add_filters(command, selection.filters, by_priority);
}

void add_list_options(CLI::App& command, ListOptions& list, std::string& every) {
  add_filters(command, list.filters, ByPriority::kYes);
  add_option(command, "--limit", list.limit, "N", "Maximum number of items", whole_number());
  command.add_flag("--all", list.all, "Also list all items that have ended");
  add_option(command, "--format", list.format, "COLUMNS",
             "csv, json, or columns: " + base::joined(column_names()));
  add_option(command, "--sort", list.sort, "COLUMN", "Sort by this column; -COLUMN: downwards");
  command.add_flag("--watch", list.watch, "Draw the list again and again, until Ctrl-C");
  add_option(command, "--every", every, "TIME", "With --watch: how often [default: 2s]",
             interval());
}

void add_result_options(CLI::App& command, ExportOptions& peaks, ResultOptions& result) {
  add_option(command, "--star", peaks.star, "FILE",
             "Write the peaks as RELION's particles into this file");
  add_option(command, "--csv", peaks.csv, "FILE",
             "Write the peaks into one table with Leopard-EM's columns");
  add_option(command, "--project", peaks.project, "DIR",
             "RELION's project: micrographs in it are named relative to it");
  command.add_flag("--path", result.path_only, "Print only the path of the result's folder");
  add_option(command, "--output-dir", result.output_directory, "DIR",
             "Copy peak list, manifest and pictures into this folder; of several items into "
             "folders there, named by their numbers");
}

void add_simulate_options(CLI::App& command, SimulateOptions& simulate) {
  add_option(command, "TRACE", simulate.trace, "",
             "The cluster and the items that arrive (YAML; see docs/policy.md)");
  add_option(command, "--from-history", simulate.from_history, "TIME",
             "In place of TRACE: what arrived here in so long, such as 30d, as the daemon knows it",
             duration());
  add_option(command, "--save", simulate.save, "FILE",
             "Write the trace of --from-history to this file");
  add_option(
      command, "--policy", simulate.policies, "NAMES",
      "Policies to simulate [default: all, or ours with --what-if]: ours, one-gpu, one-node, "
      "whole-partition, fcfs",
      one_of({"ours", "one-gpu", "one-node", "whole-partition", "fcfs"}))
      ->delimiter(',')
      ->allow_extra_args(false);
  add_option(
      command, "--what-if", simulate.what_if, "KEY=VALUE",
      "Also simulate the trace with another value for a key, such as site.nodes=18 or "
      "'policy.classes.urgent.cap=4 nodes'; several at once with ';' between them; repeatable")
      ->allow_extra_args(false);
  add_option(command, "--pictures", simulate.pictures, "DIR",
             "Also write timeline.png and waits.png into this folder");
}

void add_render_options(CLI::App& command, RenderOptions& render) {
  add_option(command, "--shape", render.shape, "SHAPE",
             "Render for this shape: cpu, gpu, node or nodes",
             one_of({"cpu", "gpu", "node", "nodes"}));
  command.add_flag("--test-only", render.test_only,
                   "Ask Slurm whether it would accept the script (needs 'slurm.transport: cli')");
}

}  // namespace scheduler::cli
