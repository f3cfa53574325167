// One search: what it consists of, fixed before any work is done, and running it on a backend with
// progress, checkpoints and a way to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/config/config.h"
#include "engine/io/mrc.h"
#include "engine/numerics/statistics.h"
#include "engine/results/checkpoint.h"
#include "engine/results/progress.h"

namespace engine {

// Raised only when the bits of the maps change.
constexpr int kNumericsVersion = 3;

// What is known from the configuration alone.
struct SearchSpace {
  OrientationList list;
  std::vector<float> planes;  // A, relative
  std::vector<Unit> units;

  int64_t orientations() const { return static_cast<int64_t>(list.orientations.size()); }
  int64_t correlations() const { return orientations() * static_cast<int64_t>(planes.size()); }
  // Correlations of one unit.
  int64_t correlations(const Unit& unit) const {
    return static_cast<int64_t>(planes.size()) * unit.orientations();
  }
};

// Throws InputError when there is nothing to search or the index would not fit 32 bits.
SearchSpace make_search_space(const SearchConfig& config);

struct Search {
  SearchConfig config;
  SearchSpace space;
  Problem problem;
  SearchIdentity identity;
  std::vector<std::string> notes{};  // a sentence each, for the user
};

// The inputs have been checked (input_checks.h). Throws InputError when a value leaves single
// precision.
Search prepare_search(const SearchConfig& config, const Image& micrograph, const Volume& volume);

class Leader;

struct RunOptions {
  std::string checkpoint;  // where to write one; empty: none
  std::chrono::milliseconds checkpoint_every = std::chrono::minutes(10);
  std::string resume;  // checkpoint to start from; empty: from nothing
  std::chrono::milliseconds report_every = std::chrono::seconds(1);
  std::function<void(const Progress&)> report;      // progress, in the running state
  std::function<void(const std::string&)> message;  // one sentence for the user
};

struct RunResult {
  bool stopped = false;  // on request, checkpoint written if one was asked for
  int64_t resumed_units = 0;
  int64_t finished_units = 0;  // resumed ones included
  double seconds = 0;          // spent correlating
  double best_z = 0;
  Accumulators accumulators;  // of a finished search
  Progress progress;          // the last one
};

// Runs the units that are not finished yet; `stop` is read after every batch. With `leader`
// this is rank 0, and `backend` its own device; without, there are no others.
RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop);
RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop, Leader& leader);

}  // namespace engine
