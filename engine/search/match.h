// Implements `margay-engine match`: from a configuration to maps, peak list, pictures and manifest.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/numerics/peaks.h"
#include "engine/ranks/rank_group.h"
#include "engine/results/manifest.h"
#include "engine/results/results.h"
#include "engine/search/device.h"
#include "engine/search/search.h"

namespace engine {

struct MatchOptions {
  DeviceOptions device;
  std::string output;      // --output; empty: beside scaled_mip_path
  std::string checkpoint;  // empty: none
  std::chrono::milliseconds checkpoint_every = std::chrono::minutes(10);
  std::string resume;    // checkpoint to resume from; empty: none
  std::string progress;  // progress file; empty: beside the manifest
  std::string attempt;   // the scheduler's token
  bool overwrite = false;
  bool allow_pixel_size_mismatch = false;
  RankGroupOptions rank_group;  // this process is its rank 0
  PeakChoice peaks;
  std::function<void(const std::string&)> message;  // lines for the user
};

struct FinishedSearch {
  Manifest manifest;
  std::vector<Peak> peaks;  // the highest first
  int template_size = 0;    // pixels
};

// Writes the results. nullopt: the search was stopped on request, and its checkpoint is written if
// one was asked for.
std::optional<FinishedSearch> run_match(SearchConfig config, const MatchOptions& options,
                                        const std::atomic<bool>& stop);

}  // namespace engine
