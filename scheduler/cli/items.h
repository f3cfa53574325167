// margay list, show, explain, and the changes: promote, finish-by, hold, release, cancel, retry
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct ListOptions {
  std::string state;  // words, separated by commas
  std::string priority;
  std::string label;
  int64_t limit = 0;  // 0: all
};

Exit list(const Context& context, const ListOptions& options);
Exit show(const Context& context, int64_t item);
Exit explain(const Context& context, int64_t item);

struct Change {
  std::string action;                            // the API's name
  std::string priority;                          // for promote
  std::optional<int64_t> finish_by{};            // for finish-by; 0: none
  std::map<std::string, std::string> options{};  // for retry: what it asks of Slurm
  bool drop_options = false;                     // for retry
  // For retry: the daemon takes the micrograph as it is now, if the caller can read it.
  bool opens_micrograph = false;
};
Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items);

// A few words about an item: its rate and time left, what was found, or why it is in its state.
std::string note_of(const nlohmann::json& item);

// Every item that the query selects, at most `limit` (0: all), by id. Asks for them in pages, and
// for the next page while the items of the last are taken.
void for_each_item(const Context& context, const std::string& query, int64_t limit,
                   const std::function<void(nlohmann::json&&)>& take);
std::vector<nlohmann::json> fetch_items(const Context& context, const std::string& query,
                                        int64_t limit);

}  // namespace scheduler::cli
