// Maps and peak list on disk, as Leopard-EM writes them. Each file is written to
// a temporary name in its folder, flushed, and renamed.
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
  std::string directory;  // manifest, progress, pictures
  std::string manifest;   // directory/manifest.json
  std::string progress;   // directory/progress.json
};

// `output` is --output: DIR/x.csv puts manifest, progress and pictures into DIR; empty puts
// everything beside scaled_mip_path, the list being <stem of scaled_mip_path>_peaks.csv.
OutputPaths output_paths(const SearchConfig& config, const std::string& output);

// Writes the eight maps with the pixel size (A) in their headers; makes missing folders. All are
// written before the first is renamed. Throws Error naming the file.
void write_maps(const Maps& maps, const ResultPaths& paths, double pixel_size);

// Writes one MRC image, whole or not at all; pixel size in A. Throws Error naming the file.
void write_image(const std::string& path, const Image& image, double pixel_size);

// Reads the eight maps back (for picking again). Throws InputError when they are not of one shape.
// `total_correlations` is not in the maps: the caller gives it (from manifest.json or by counting
// the search of the configuration).
Maps read_maps(const ResultPaths& paths);

}  // namespace engine
