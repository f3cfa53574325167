// What `margay-engine scale` has measured, and what is shown of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

// Of one run.
struct ScaleRow {
  int ranks = 1;
  int nodes = 1;
  double seconds = 0;
  std::vector<int64_t> correlations{};  // by rank

  int64_t smallest() const;
  int64_t largest() const;
};

struct ScaleTable {
  std::string search;  // in words
  int64_t correlations = 0;
  std::string backend, device;
  int threads = 1;             // of every rank
  std::vector<ScaleRow> rows;  // the first is of one rank

  double speed_up(const ScaleRow& row) const { return rows.front().seconds / row.seconds; }
  double efficiency(const ScaleRow& row) const { return speed_up(row) / row.ranks; }
  double rate(const ScaleRow& row) const { return static_cast<double>(correlations) / row.seconds; }
  double share(int64_t of) const {
    return static_cast<double>(of) / static_cast<double>(correlations);
  }
};

// For a terminal. The nodes are named where a row has several.
std::string scale_text(const ScaleTable& table);
std::string scale_csv(const ScaleTable& table);
std::string scale_json(const ScaleTable& table);

}  // namespace engine
