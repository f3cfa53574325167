// margay show, and functions shared by all commands that list items.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// Prints each item's details.
Exit show(const Context& context, const std::vector<int64_t>& items);

// A few words about an item: its rate and time left, what was found, or why it is in its state.
std::string note_of(const nlohmann::json& item);

// "starts 2026-11-24 07:00:00, done 2026-11-24 08:00:00"; empty when not known.
std::string expected_text(const nlohmann::json& item);

// Calls `take` with each item. Where it throws a Failure for one of several, that is reported, and
// the others are still taken.
Exit for_each_selected(const Context& context, const std::vector<int64_t>& items,
                       const std::function<void(int64_t)>& take);

// for_each_selected() with each item's details, the answer to a request with this query ("?..." or
// empty).
Exit for_each_detailed(const Context& context, const std::vector<int64_t>& items,
                       const std::string& query,
                       const std::function<void(const nlohmann::json&)>& take);

// Prints, if JSON is wanted, the one document of the one item, or {name: documents}. Returns
// `exit`.
Exit print_documents(const Context& context, const std::string& name, nlohmann::json documents,
                     const std::vector<int64_t>& items, Exit exit);

// Calls `take` for the items that the query selects, by id, at most `limit` of them (0: all). Items
// are requested in pages, and the next page while those of the last are taken.
void for_each_item(const Context& context, const std::string& query, int64_t limit,
                   const std::function<void(nlohmann::json&&)>& take);
std::vector<nlohmann::json> fetch_items(const Context& context, const std::string& query,
                                        int64_t limit);

}  // namespace scheduler::cli
