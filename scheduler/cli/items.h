// margay show, and what all commands that list items share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// Each item's details.
Exit show(const Context& context, const std::vector<int64_t>& items);

// A few words about an item: its rate and time left, what was found, or why it is in its state.
std::string note_of(const nlohmann::json& item);

// "starts 2026-11-24 07:00:00, done 2026-11-24 08:00:00"; empty where it is not known.
std::string expected_text(const nlohmann::json& item);

// For each item, what the daemon knows of it, the answer to a request with this query ("?..." or
// nothing); what it refuses is said, and the others are taken.
Exit for_each_detailed(const Context& context, const std::vector<int64_t>& items,
                       const std::string& query,
                       const std::function<void(const nlohmann::json&)>& take);

// Every item that the query selects, at most `limit` (0: all), by id. Asks for them in pages, and
// for the next page while the items of the last are taken.
void for_each_item(const Context& context, const std::string& query, int64_t limit,
                   const std::function<void(nlohmann::json&&)>& take);
std::vector<nlohmann::json> fetch_items(const Context& context, const std::string& query,
                                        int64_t limit);

}  // namespace scheduler::cli
