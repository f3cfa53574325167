#include "scheduler/cli/items/list.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "scheduler/cli/items/items.h"
#include "scheduler/cli/items/list_columns.h"
#include "scheduler/cli/terminal/redraw.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// Those that have ended, where nobody asked for all of them.
constexpr int64_t kEndedShown = 25;
constexpr int64_t kMostAtOnce = 1000;
// What is listed first, to what is listed last.
const std::vector<std::vector<std::string>> kStates = {
    {"ACTIVE"}, {"QUEUED", "HELD"}, {"DONE", "FAILED", "QUARANTINED", "CANCELLED"}};

bool is_document(const std::string& format) { return format == "csv" || format == "json"; }

// The states of one part that are asked for, as the API has them; empty: none.
std::string states_in(const std::vector<std::string>& part, const std::string& asked) {
  if (asked.empty()) return base::joined(part, ",");
  std::vector<std::string> both;
  const std::string words = "," + base::upper(asked) + ",";
  for (const std::string& state : part) {
    if (words.find("," + state + ",") != words.npos) both.push_back(state);
  }
  return base::joined(both, ",");
}

// Whether each word of it is a state; the daemon says what is wrong with others.
bool names_states(const std::string& asked) {
  if (asked.empty()) return true;
  std::ptrdiff_t known = 0;
  for (const auto& part : kStates) {
    const std::string here = states_in(part, asked);
    if (!here.empty()) known += 1 + std::count(here.begin(), here.end(), ',');
  }
  return known == 1 + std::count(asked.begin(), asked.end(), ',');
}

class Lister {
 public:
  Lister(const Context& context, const ListOptions& options)
      : context_(context), options_(options), left_(options.limit) {
    const bool columns_named = !options.format.empty() && !is_document(options.format);
    columns_ =
        columns_named ? parse_columns(options.format) : default_columns(context.screen().columns);
    if (options.format == "csv") columns_ = column_names();
    sort_key_ = options.sort;
    // An unknown column is refused before anything is asked.
    std::vector<json> none;
    if (!sort_key_.empty()) sort_items(none, sort_key_);
  }

  void print_table() {
    Table table(titles_of(columns_));
    const bool hides = options_.filters.empty() && !options_.all && options_.limit == 0;
    const auto cells = cells_of(columns_);
    each(hides ? kEndedShown : 0, [&](const json& item) {
      std::vector<Cell> row;
      row.reserve(cells.size());
      for (const auto& cell : cells) row.push_back(cell(item));
      table.add(std::move(row));
    });
    context_.print(table, "no items\n");
    if (hides && ended_ == kEndedShown) say_what_is_hidden();
  }

  void print_csv() {
    context_.out() << csv_line(columns_) << "\n";
    const auto cells = cells_of(columns_);
    each(0, [&](const json& item) {
      std::vector<std::string> values;
      for (const auto& cell : cells) values.push_back(cell(item).text);
      context_.out() << csv_line(values) << "\n";
    });
  }

  void print_json() {
    const std::string query = "explain=1&progress=1" + query_of(options_.filters);
    if (sort_key_.empty()) {
      print_json_as_it_comes(query);
      return;
    }
    std::vector<json> items = fetch_items(context_, query, options_.limit);
    sort_items(items, sort_key_);
    context_.print(json{{"items", std::move(items)}});
  }

 private:
  // The items are kept as text, which takes a quarter of the memory of parsed ones. None is printed
  // before the last has come, so that an error is the only document.
  void print_json_as_it_comes(const std::string& query) {
    std::vector<std::string> items;
    for_each_item(context_, query, options_.limit,
                  [&](const json& item) { items.push_back(Context::text_in_list(item)); });
    context_.print_list("items", items);
  }

  // In the order in which they are listed. Sorted ones must all be there first.
  void each(int64_t most_ended, const std::function<void(const json&)>& take) {
    if (sort_key_.empty()) {
      fetch(most_ended, take);
      return;
    }
    std::vector<json> items;
    fetch(most_ended, [&](const json& item) { items.push_back(item); });
    sort_items(items, sort_key_);
    std::for_each(items.begin(), items.end(), take);
  }

  void fetch(int64_t most_ended, const std::function<void(const json&)>& take) {
    const std::string& asked = options_.filters.state;
    if (!names_states(asked)) {
      fetch_part(asked, 0, false, take);
      return;
    }
    for (const auto& part : kStates) {
      const bool ended = part.front() == "DONE";
      const std::string states = states_in(part, asked);
      if (states.empty() || (options_.limit > 0 && left_ == 0)) continue;
      const bool some = ended && (most_ended > 0 || options_.limit > 0);
      const int64_t most = most_ended > 0 && ended ? most_ended : left_;
      const int64_t found = fetch_part(states, most, some, take);
      if (ended) ended_ = found;
      left_ = std::max<int64_t>(0, left_ - found);
    }
  }

  int64_t fetch_part(const std::string& states, int64_t most, bool newest,
                     const std::function<void(const json&)>& take) {
    Filters filters = options_.filters;
    filters.state = states;
    const std::string query = std::string("explain=1&progress=1") +
                              (need_details(columns_) ? "" : "&brief=1") + query_of(filters);
    if (newest) return fetch_newest(query, most, take);
    int64_t found = 0;
    const auto count = [&](const json& item) {
      ++found;
      take(item);
    };
    for_each_item(context_, query, most, count);
    return found;
  }

  // Page by page from the newest on, and then from the oldest of them on.
  int64_t fetch_newest(const std::string& query, int64_t most,
                       const std::function<void(const json&)>& take) {
    std::vector<json> pages;
    int64_t found = 0;
    for (int64_t up_to = 0; found < most;) {
      const int64_t size = std::min(kMostAtOnce, most - found);
      json items = context_
                       .get("/v1/items?newest=1&limit=" + std::to_string(size) +
                            (up_to > 0 ? "&up_to=" + std::to_string(up_to) : "") + "&" + query)
                       .at("items");
      const auto count = static_cast<int64_t>(items.size());
      found += count;
      if (count > 0) up_to = items.front().at("id").get<int64_t>() - 1;
      if (count > 0) pages.push_back(std::move(items));
      if (count < size || up_to < 1) break;
    }
    for (auto page = pages.rbegin(); page != pages.rend(); ++page) {
      for (const json& item : *page) take(item);
    }
    return found;
  }

  void say_what_is_hidden() const {
    const json counts = context_.get("/v1/status").at("items");
    int64_t all = 0;
    for (const std::string& state : kStates.back()) all += counts.value(state, int64_t{0});
    if (all <= kEndedShown) return;
    context_.out() << "... and " << base::counted(all - kEndedShown, "older item") << " that "
                   << (all - kEndedShown == 1 ? "has" : "have")
                   << " ended; 'margay list --all' shows all\n";
  }

  const Context& context_;
  const ListOptions& options_;
  int64_t left_;
  int64_t ended_ = 0;
  std::vector<std::string> columns_{};
  std::string sort_key_{};
};

}  // namespace

Exit list(const Context& context, const ListOptions& options) {
  if (context.wants_json() || options.format == "json") {
    if (options.watch) throw Failure(Exit::kUsage, "--watch shows a table: leave out JSON");
    Lister(context, options).print_json();
    return Exit::kOk;
  }
  if (options.watch) {
    if (options.format == "csv") {
      throw Failure(Exit::kUsage, "--watch shows a table: leave out --format csv");
    }
    return redraw(context, options.every,
                  [&](const Context& drawn) { Lister(drawn, options).print_table(); });
  }
  Lister lister(context, options);
  options.format == "csv" ? lister.print_csv() : lister.print_table();
  return Exit::kOk;
}

}  // namespace scheduler::cli
