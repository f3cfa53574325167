// The measurements of `margay-engine scale`, written for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

// One measured run.
struct ScaleRow {
  int ranks = 1;
  int nodes = 1;
  double seconds = 0;
  std::vector<int64_t> correlations{};  // by rank

  int64_t smallest() const;
  int64_t largest() const;
};

struct ScaleTable {
  std::string search;  // a description: sizes and counts
  int64_t correlations = 0;
  std::string backend, device;
  int threads = 1;             // per rank
  std::vector<ScaleRow> rows;  // not empty; the first is of one rank

  // Both compare with the first row; efficiency is 1 where the speed-up equals the ranks.
  double speed_up(const ScaleRow& row) const { return rows.front().seconds / row.seconds; }
  double efficiency(const ScaleRow& row) const { return speed_up(row) / row.ranks; }
  // Correlations per second.
  double rate(const ScaleRow& row) const { return static_cast<double>(correlations) / row.seconds; }
  // The fraction of all correlations, 0 to 1.
  double share(int64_t of) const {
    return static_cast<double>(of) / static_cast<double>(correlations);
  }
};

// Returns a table for a terminal, with a column of nodes where a row has several.
std::string scale_text(const ScaleTable& table);
std::string scale_csv(const ScaleTable& table);
std::string scale_json(const ScaleTable& table);

// Returns a doubt about the figures; empty: there is none. N ranks cannot be more than N times as
// fast as one, unless the run of one was slowed down.
std::string scale_doubt(const ScaleTable& table);

}  // namespace engine
