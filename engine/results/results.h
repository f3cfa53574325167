// Writes and reads a search's maps as Leopard-EM does. Each file is written under a temporary name
// in its folder, flushed, and renamed.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/numerics/maps.h"
#include "engine/numerics/peaks.h"

namespace engine {

struct OutputPaths {
  ResultPaths maps;       // where the eight maps go
  std::string csv;        // peak list
  std::string beginning;  // of the paths of manifest, progress and pictures: "DIR/" or "DIR/x_"
  std::string manifest;   // <beginning>manifest.json
  std::string progress;   // <beginning>progress.json
};

// Chooses the paths of a search's outputs. `output` is --output: DIR/x.csv puts manifest, progress
// and pictures into DIR, with names that begin with "x_", so that several searches can share a
// folder; those of DIR/x_peaks.csv do as well, and those of DIR/peaks.csv have no beginning. An
// empty one puts everything beside scaled_mip_path, with the peak list in <stem of
// scaled_mip_path>_peaks.csv; the names begin with what that stem has before "scaled_mip". Throws
// UsageError for an `output` that is not a CSV file.
OutputPaths output_paths(const SearchConfig& config, const std::string& output);

// Writes the eight maps with `pixel_size`, in A, in their headers, and makes missing folders. All
// maps are written before the first is renamed. Throws Error naming the file.
void write_maps(const Maps& maps, const ResultPaths& paths, double pixel_size);

// Writes one MRC image, whole or not at all; `pixel_size` is in A. Throws Error naming the file.
void write_image(const std::string& path, const Image& image, double pixel_size);

// Reads the eight maps back, for picking again. Throws InputError when one cannot be read or they
// differ in shape. The files do not hold the totals: the caller sets `total_correlations`, from
// manifest.json or by counting the search of the configuration.
Maps read_maps(const ResultPaths& paths);

}  // namespace engine
