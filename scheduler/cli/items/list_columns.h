// The columns of `margay list`, chosen by name. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/cli/terminal/text_format.h"

namespace scheduler::cli {

// The names that --format and --sort take.
const std::vector<std::string>& column_names();

// The names in "item,state,note". Throws Failure (usage) for an unknown one.
std::vector<std::string> parse_columns(const std::string& text);

// The columns without --format, on a terminal that is `terminal_columns` wide; 0: no terminal.
std::vector<std::string> default_columns(int terminal_columns);

// Whether these columns need more than the daemon's brief list.
bool need_details(const std::vector<std::string>& columns);

std::vector<Column> titles_of(const std::vector<std::string>& columns);
// Functions that make the cells of these columns from an item of the API's list with explanation
// and progress.
std::vector<std::function<Cell(const nlohmann::json&)>> cells_of(
    const std::vector<std::string>& columns);

// Sorts by a column ("-COLUMN": descending), stably: numbers and times by value, priorities and
// states from the most urgent and live on, texts alphabetically; items without a value come last.
// Throws Failure (usage) for an unknown column.
void sort_items(std::vector<nlohmann::json>& items, const std::string& key);

// One line of CSV (RFC 4180) without its line break.
std::string csv_line(const std::vector<std::string>& values);

}  // namespace scheduler::cli
