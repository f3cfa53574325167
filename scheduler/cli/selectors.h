// Which items a command is about: by number, range, "last", "all" or file name, and by what they
// have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// Empty ones do not restrict. States and priorities are words separated by commas.
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

// What words say. Pure.
struct ParsedWords {
  std::vector<int64_t> numbers{};
  std::vector<std::pair<int64_t, int64_t>> ranges{};  // first and last
  std::vector<std::string> files{};
  bool last = false;
  bool all = false;
};
// Throws Failure (usage) for a range that ends before it begins.
ParsedWords parse_words(const std::vector<std::string>& words);

// As the API's query has them, "&label=x&owner=ann", without what is not set.
std::string query_of(const Filters& filters);

// The numbers of the selected items, each once: those that were named first, as they were named,
// then the others, the oldest first. A number stays, whether there is such an item or not, unless
// filters say more of it. Throws Failure: usage where nothing is selected by, not found for a file
// without an item and for "last" of somebody without one.
std::vector<int64_t> select_items(const Context& context, const Selection& selection);

// The same for a command that changes items in one of these states (API's words, separated by
// commas): "all" and filters select only the caller's own, unless --owner says whose, and only
// those in such a state, unless --state says which.
std::vector<int64_t> select_to_change(const Context& context, const Selection& selection,
                                      const std::string& states);

// The same for a command that needs results: "all", filters and nothing at all select only items
// that are done, unless --state says which.
std::vector<int64_t> select_to_export(const Context& context, const Selection& selection);

// The same for a command that waits for items: "all" and filters select only unfinished ones,
// unless --state says which.
std::vector<int64_t> select_to_wait_for(const Context& context, const Selection& selection);

}  // namespace scheduler::cli
