#include "scheduler/cli/items/list_columns.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/nearest_name.h"
#include "base/text.h"
#include "scheduler/cli/items/items.h"
#include "scheduler/cli/items/progress.h"
#include "scheduler/cli/terminal/context.h"
#include "scheduler/cli/terminal/exit.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

constexpr int kRoomForAll = 100;  // columns of a terminal

struct Named {
  std::string name;
  Column column;
  std::function<Cell(const json&)> cell;
  // What it is sorted by, where that is not the text: the lower goes first.
  std::function<double(const json&)> value{};
  bool detailed = false;  // not in a brief list
};

int64_t number(const json& item, const char* key) { return item.value(key, int64_t{0}); }

constexpr double kLast = std::numeric_limits<double>::max();

double sorted_time(const json& item, const char* key) {
  const int64_t time = number(item, key);
  return time == 0 ? kLast : static_cast<double>(time);
}

std::string time_cell(const json& item, const char* key) {
  const int64_t time = number(item, key);
  return time == 0 ? "" : time_text(time);
}

size_t place_among(const std::vector<std::string>& words, const std::string& word) {
  return static_cast<size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

Cell state_cell(const json& item) {
  const std::string state = item.at("state");
  if (item.contains("late_by")) return {state + " AT RISK", style::kRed};
  return {state, state_style(state)};
}

double seconds_of_age(const json& item) {
  // The age of an item that has ended stands still.
  const bool ended = has_ended(item.at("state").get<std::string>());
  const int64_t until = ended ? number(item, "changed") : int64_t{std::time(nullptr)};
  return static_cast<double>(until - number(item, "created"));
}

// What a search that runs says of itself is nearer to the truth than the plan.
int64_t expected_end(const json& item) {
  const auto progress = progress_of(item);
  if (progress && progress->state == "running" && progress->eta_seconds > 0) {
    return std::time(nullptr) + static_cast<int64_t>(progress->eta_seconds);
  }
  return number(item, "expected_end");
}

// "14:05", or "Nov 26 14:05" on another day.
std::string clock_text(int64_t time) {
  if (time == 0) return "";
  const std::time_t then = time;
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  std::tm today{};
  ::localtime_r(&then, &day);
  ::localtime_r(&now, &today);
  const bool is_today = day.tm_year == today.tm_year && day.tm_yday == today.tm_yday;
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), is_today ? "%H:%M" : "%b %d %H:%M", &day);
  return text.data();
}

std::optional<double> share_done(const json& item) {
  const auto progress = progress_of(item);
  if (!progress || progress->total <= 0) return std::nullopt;
  return progress->done / progress->total;
}

const json* result_of(const json& item) {
  const auto result = item.find("result");
  return result != item.end() && result->is_object() ? &*result : nullptr;
}

Cell text_cell(const json& item, const char* key) { return {text_of(item, key)}; }

std::vector<Named> make_columns() {
  const std::vector<std::string> priorities = {"live", "urgent", "high", "normal", "low"};
  const std::vector<std::string> states = {"ACTIVE", "QUEUED",      "HELD",     "DONE",
                                           "FAILED", "QUARANTINED", "CANCELLED"};
  const auto in = [](const std::vector<std::string>& words, const char* key) {
    return [words, key](const json& item) {
      return static_cast<double>(place_among(words, item.at(key).get<std::string>()));
    };
  };
  const auto right = [](const char* title) {
    return Column{.title = title, .align = Align::kRight};
  };
  return {
      {"item", right("ITEM"),
       [](const json& item) {
         return Cell{std::to_string(number(item, "id")), style::kBold};
       },
       [](const json& item) { return static_cast<double>(number(item, "id")); }},
      {"state", {.title = "STATE"}, state_cell, in(states, "state")},
      {"progress", right(""),
       [](const json& item) {
         const auto share = share_done(item);
         return Cell{share ? fixed(100 * *share, 0) + " %" : ""};
       },
       [](const json& item) { return share_done(item).value_or(kLast); }},
      {"priority",
       {.title = "PRIORITY"},
       [](const json& item) { return text_cell(item, "priority"); },
       in(priorities, "priority")},
      {"template",
       {.title = "TEMPLATE"},
       [](const json& item) { return text_cell(item, "template"); }},
      {"owner", {.title = "OWNER"}, [](const json& item) { return text_cell(item, "owner"); }},
      {"group",
       {.title = "GROUP"},
       [](const json& item) { return text_cell(item, "group"); },
       {},
       true},
      {"label",
       {.title = "LABEL", .least = 8},
       [](const json& item) { return text_cell(item, "label"); },
       {},
       true},
      {"age", right("AGE"),
       [](const json& item) { return Cell{duration_text(seconds_of_age(item))}; }, seconds_of_age},
      {"expected", right("EXPECTED"),
       [](const json& item) { return Cell{clock_text(expected_end(item))}; },
       [](const json& item) {
         const int64_t end = expected_end(item);
         return end == 0 ? kLast : static_cast<double>(end);
       }},
      {"finish-by",
       {.title = "FINISH BY"},
       [](const json& item) { return Cell{time_cell(item, "finish_by")}; },
       [](const json& item) { return sorted_time(item, "finish_by"); }},
      {"created",
       {.title = "CREATED"},
       [](const json& item) { return Cell{time_cell(item, "created")}; },
       [](const json& item) { return sorted_time(item, "created"); }},
      {"changed",
       {.title = "CHANGED"},
       [](const json& item) { return Cell{time_cell(item, "changed")}; },
       [](const json& item) { return sorted_time(item, "changed"); }},
      {"peaks", right("PEAKS"),
       [](const json& item) {
         const json* result = result_of(item);
         return Cell{result == nullptr ? "" : std::to_string(number(*result, "peaks"))};
       },
       [](const json& item) {
         const json* result = result_of(item);
         return result == nullptr ? kLast : static_cast<double>(number(*result, "peaks"));
       }},
      {"micrograph",
       {.title = "MICROGRAPH", .least = 16, .cut = Cut::kStart},
       [](const json& item) {
         return Cell{std::filesystem::path(text_of(item, "micrograph")).filename().string()};
       }},
      {"path",
       {.title = "PATH", .least = 16, .cut = Cut::kStart},
       [](const json& item) { return text_cell(item, "micrograph"); }},
      {"note", {.title = "NOTE", .least = 16}, [](const json& item) {
         return Cell{note_of(item)};
       }}};
}

const std::vector<Named>& columns() {
  static const std::vector<Named> kColumns = make_columns();
  return kColumns;
}

const Named& column_of(const std::string& name) {
  const auto found = std::find_if(columns().begin(), columns().end(),
                                  [&](const Named& one) { return one.name == name; });
  if (found != columns().end()) return *found;
  throw Failure(Exit::kUsage,
                "unknown column '" + name + "'" + base::names_to_use(name, column_names()));
}

}  // namespace

const std::vector<std::string>& column_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Named& column : columns()) names.push_back(column.name);
    return names;
  }();
  return kNames;
}

std::vector<std::string> parse_columns(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    names.push_back(column_of(text.substr(begin, comma - begin)).name);
    begin = comma + 1;
  }
  return names;
}

std::vector<std::string> default_columns(int terminal_columns) {
  // A narrow terminal keeps its room for what matters most: why an item waits.
  if (terminal_columns > 0 && terminal_columns < kRoomForAll) {
    return {"item", "state", "progress", "priority", "micrograph", "note"};
  }
  return {"item",  "state", "progress", "priority",   "template",
          "owner", "age",   "expected", "micrograph", "note"};
}

bool need_details(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return column_of(name).detailed; });
}

std::vector<Column> titles_of(const std::vector<std::string>& names) {
  std::vector<Column> titles;
  for (const std::string& name : names) titles.push_back(column_of(name).column);
  return titles;
}

std::vector<std::function<Cell(const json&)>> cells_of(const std::vector<std::string>& names) {
  std::vector<std::function<Cell(const json&)>> cells;
  for (const std::string& name : names) cells.push_back(column_of(name).cell);
  return cells;
}

void sort_items(std::vector<json>& items, const std::string& key) {
  const bool downwards = key.starts_with("-");
  const Named& column = column_of(downwards ? key.substr(1) : key);
  struct Keyed {
    double value = 0;
    std::string text{};
    size_t at = 0;
  };
  std::vector<Keyed> keyed;
  for (size_t i = 0; i < items.size(); ++i) {
    const double value = column.value ? column.value(items[i]) : 0;
    const bool missing = value == kLast;
    keyed.push_back({.value = downwards && !missing ? -value : value,
                     .text = column.value ? "" : column.cell(items[i]).text,
                     .at = i});
  }
  std::stable_sort(keyed.begin(), keyed.end(), [downwards](const Keyed& a, const Keyed& b) {
    if (a.value != b.value) return a.value < b.value;
    if (a.text.empty() != b.text.empty()) return b.text.empty();
    return downwards ? b.text < a.text : a.text < b.text;
  });
  std::vector<json> sorted;
  sorted.reserve(items.size());
  for (const Keyed& one : keyed) sorted.push_back(std::move(items[one.at]));
  items = std::move(sorted);
}

std::string csv_line(const std::vector<std::string>& values) {
  std::string line;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) line += ',';
    const std::string& value = values[i];
    if (value.find_first_of(",\"\r\n") == value.npos) {
      line += value;
      continue;
    }
    line += '"';
    for (const char c : value) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line;
}

}  // namespace scheduler::cli
