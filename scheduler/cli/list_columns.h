// The columns of `margay list`, chosen by name. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/cli/text_format.h"

namespace scheduler::cli {

// The names that --format and --sort take.
const std::vector<std::string>& column_names();

// "item,state,note" as names; throws Failure (usage) for one that is not known.
std::vector<std::string> parse_columns(const std::string& text);

// What is shown without --format, on a terminal with so many columns; 0: no terminal.
std::vector<std::string> default_columns(int terminal_columns);

// Whether the daemon must be asked for more than a brief list to fill them.
bool need_details(const std::vector<std::string>& columns);

std::vector<Column> titles_of(const std::vector<std::string>& columns);
// The cells of these columns. An item is one of the API's list with explanation and progress.
std::vector<std::function<Cell(const nlohmann::json&)>> cells_of(
    const std::vector<std::string>& columns);

// Sorts by a column, "-COLUMN" downwards: numbers and times by value, priorities and states from
// the most urgent and live on, texts by their letters; the same ones stay in their order, and items
// without a value come last. Throws Failure (usage) for a column that is not known.
void sort_items(std::vector<nlohmann::json>& items, const std::string& key);

// One line of RFC 4180, without its end.
std::string csv_line(const std::vector<std::string>& values);

}  // namespace scheduler::cli
