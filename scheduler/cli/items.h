// margay show and explain, and what all commands that list items share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// Each item's details.
Exit show(const Context& context, const std::vector<int64_t>& items);
Exit explain(const Context& context, const std::vector<int64_t>& items);

// A few words about an item: its rate and time left, what was found, or why it is in its state.
std::string note_of(const nlohmann::json& item);

// Every item that the query selects, at most `limit` (0: all), by id. Asks for them in pages, and
// for the next page while the items of the last are taken.
void for_each_item(const Context& context, const std::string& query, int64_t limit,
                   const std::function<void(nlohmann::json&&)>& take);
std::vector<nlohmann::json> fetch_items(const Context& context, const std::string& query,
                                        int64_t limit);

}  // namespace scheduler::cli
