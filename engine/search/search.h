// Prepares one search, which is fixed before any work is done, and runs it on a backend with
// progress, checkpoints and a way to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/config/config.h"
#include "engine/io/mrc.h"
#include "engine/numerics/search_grid.h"
#include "engine/numerics/statistics.h"
#include "engine/results/checkpoint.h"
#include "engine/results/progress.h"

namespace engine {

// The version of the numerics. It is raised only when the bits of the maps change.
constexpr int kNumericsVersion = 7;

// The search as it follows from the configuration alone.
struct SearchSpace {
  OrientationList list;
  std::vector<float> planes;  // A, relative
  std::vector<Unit> units;

  int64_t orientations() const { return static_cast<int64_t>(list.orientations.size()); }
  int64_t correlations() const { return orientations() * static_cast<int64_t>(planes.size()); }
  // Returns the correlations of one unit.
  int64_t correlations(const Unit& unit) const {
    return static_cast<int64_t>(planes.size()) * unit.orientations();
  }
};

// Throws InputError when there is nothing to search, or too many correlations for kIndexLimit.
SearchSpace make_search_space(const SearchConfig& config);

// The middle of the micrograph, on which the error of a grid is measured.
struct CropSample {
  Problem whole;  // on the micrograph's own pixels
  SearchGrid grid;
  std::vector<std::complex<float>> image_spectrum;  // on the grid
};

struct Search {
  SearchConfig config;
  SearchSpace space;
  Problem problem;
  std::optional<SearchGrid> grid{};    // nullopt: the micrograph's own
  std::optional<CropSample> sample{};  // where there is a grid
  SearchIdentity identity;
  std::vector<std::string> notes{};  // a sentence each, for the user
};

// The inputs must have been checked (input_checks.h). Throws InputError when a value leaves the
// range of single precision.
Search prepare_search(const SearchConfig& config, const Image& micrograph, const Volume& volume);

class Leader;

struct RunOptions {
  std::string checkpoint;  // where to write one; empty: none
  std::chrono::milliseconds checkpoint_every = std::chrono::minutes(10);
  std::string resume;  // checkpoint to resume from; empty: none
  std::chrono::milliseconds report_every = std::chrono::seconds(1);
  std::function<void(const Progress&)> report;      // progress, in the running state
  std::function<void(const std::string&)> message;  // one sentence for the user
};

struct RunResult {
  bool stopped = false;  // on request; a checkpoint was written if one was asked for
  int64_t resumed_units = 0;
  int64_t finished_units = 0;  // including resumed ones
  double seconds = 0;          // spent correlating
  double best_z = 0;
  Accumulators accumulators;  // of a finished search
  Progress progress;          // the last one
};

// Runs the units that are not finished yet; `stop` is read after every batch. With `leader` this
// process is rank 0 of several and `backend` is its own device; without it there is one rank.
RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop);
RunResult run_search(const Search& search, Backend& backend, const RunOptions& options,
                     const std::atomic<bool>& stop, Leader& leader);

}  // namespace engine
