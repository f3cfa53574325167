// Options that several commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "scheduler/cli/items/export.h"
#include "scheduler/cli/items/list.h"
#include "scheduler/cli/items/results.h"
#include "scheduler/cli/items/selectors.h"
#include "scheduler/cli/simulate.h"
#include "scheduler/cli/site.h"

namespace scheduler::cli {

// Adds --state, --label, --mine, --owner and --template, and --priority where it is a filter.
enum class ByPriority { kYes, kNo };
void add_filters(CLI::App& command, Filters& filters, ByPriority by_priority);

// Adds items by number, range, "last", "all" or file name, and the filters. `if_none` is the help
// text for what the command does when none is given.
void add_items(CLI::App& command, Selection& selection, ByPriority by_priority,
               const std::string& if_none = "");

// `every` is a duration as text.
void add_list_options(CLI::App& command, ListOptions& list, std::string& every);
void add_result_options(CLI::App& command, ExportOptions& peaks, ResultOptions& result);
void add_simulate_options(CLI::App& command, SimulateOptions& simulate);
void add_render_options(CLI::App& command, RenderOptions& render);

}  // namespace scheduler::cli
