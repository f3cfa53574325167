// Progress of running searches, as `margay wait` and `margay list` show it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace scheduler::cli {

// `state` is the API's word for an item's state.
bool has_ended(const std::string& state);

// The engine's last report about a running search.
struct Progress {
  double done = 0;
  double total = 0;
  double rate = 0;  // correlations per second
  double eta_seconds = 0;
  double best_z = 0;
  std::string state;  // starting, running, writing
};
// `item` is the API's. nullopt while its engine has reported nothing.
std::optional<Progress> progress_of(const nlohmann::json& item);

struct ProgressRow {
  int64_t item = 0;
  std::string name;  // safe to print
  std::optional<Progress> progress;
};
// One line for each row, at most `columns` cells wide: item, micrograph, bar, percent, rate, time
// left, best z; names and bars are aligned. With `columns` 0 there are no bars and lines may have
// any length.
std::vector<std::string> progress_lines(const std::vector<ProgressRow>& rows, int columns);

}  // namespace scheduler::cli
