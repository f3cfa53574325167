// margay list, show, explain, and the changes: promote, hold, release, cancel, retry
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

struct ListOptions {
  std::string state;  // words with commas between
  std::string priority;
  std::string label;
  int64_t limit = 0;  // 0: all
};

Exit list(const Context& context, const ListOptions& options);
Exit show(const Context& context, int64_t item);
Exit explain(const Context& context, int64_t item);

struct Change {
  std::string action;                            // the API's word
  std::string priority;                          // of promote
  std::map<std::string, std::string> options{};  // of retry: asked of Slurm
  bool drop_options = false;                     // of retry
};
Exit change(const Context& context, const Change& change, const std::vector<int64_t>& items);

// What there is to say of an item in a few words: how fast it goes, what was found, or why it is as
// it is.
std::string note_of(const nlohmann::json& item);

// Every item that the query selects, `limit` at most (0: all), asked for in pages.
std::vector<nlohmann::json> fetch_items(const Context& context, const std::string& query,
                                        int64_t limit);

}  // namespace scheduler::cli
