// Selects the items that a command applies to: by number, range, "last", "all" or file name, and by
// filters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// Empty filters do not restrict. States and priorities are words separated by commas.
struct Filters {
  std::string state{};
  std::string priority{};
  std::string label{};
  std::string owner{};
  std::string search_template{};  // NAME, or NAME@VERSION
  bool mine = false;

  bool empty() const;
};

struct Selection {
  std::vector<std::string> words{};  // "1-20,31", "last", "all", "grid1/a.mrc"
  Filters filters{};

  bool empty() const { return words.empty() && filters.empty(); }
};

// The parsed words of a selection.
struct ParsedWords {
  std::vector<int64_t> numbers{};
  std::vector<std::pair<int64_t, int64_t>> ranges{};  // first and last
  std::vector<std::string> files{};
  bool last = false;
  bool all = false;
};
// Throws Failure (usage) for a range that ends before it begins. Pure.
ParsedWords parse_words(const std::vector<std::string>& words);

// The filters as the API's query, "&label=x&owner=ann", without unset ones.
std::string query_of(const Filters& filters);

// The ids of the selected items, each once: named ones first, in the given order, then the others,
// oldest first. Named ids are not checked to exist unless filters apply. Throws Failure: usage when
// nothing is selected by, not found for a file without an item and for "last" of a user without
// items.
std::vector<int64_t> select_items(const Context& context, const Selection& selection);

// As select_items(), for a command that changes items in one of these states (the API's words,
// separated by commas): "all" and filters select only the caller's own items unless --owner names
// another user, and only items in these states unless --state names others.
std::vector<int64_t> select_to_change(const Context& context, const Selection& selection,
                                      const std::string& states);

// As select_items(), for a command that needs results: "all", filters or an empty selection select
// only items that are done, unless --state names other states.
std::vector<int64_t> select_to_export(const Context& context, const Selection& selection);

// As select_items(), for a command that waits for items: "all" and filters select only unfinished
// items, unless --state names other states.
std::vector<int64_t> select_to_wait_for(const Context& context, const Selection& selection);

}  // namespace scheduler::cli
