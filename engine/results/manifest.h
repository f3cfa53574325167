// Writes manifest.json, the last file of a search: where it is missing, the search is unfinished.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/backend/crop_error.h"
#include "engine/backend/precision_error.h"
#include "engine/config/config.h"
#include "engine/config/input_checks.h"
#include "engine/results/results.h"

namespace engine {

struct Timings {
  double read = 0, preprocess = 0, search = 0, write = 0;  // seconds
  std::string started, finished;                           // ISO 8601, UTC
};

struct DeviceInfo {
  std::string backend;          // "cpu" or "cuda"
  std::string name;             // processor or device model
  std::string instruction_set;  // of the SIMD code chosen at run time
  int threads = 1;
  std::vector<std::pair<std::string, std::string>> libraries;  // name, version (fftw, ...)
  std::vector<std::string> transforms;                         // available for it in this build
};

// SHA-256, in hex, of what the search has read: the files may have been replaced since.
struct InputHashes {
  std::string configuration, micrograph, volume;
};
// Hashes the configuration's file; `files` are those that read_inputs() returned. Throws
// InputError.
InputHashes hash_inputs(const SearchConfig& config, const InputFiles& files);

// A rank other than 0; rank 0's host and device are those of the manifest itself.
struct OtherRank {
  int rank = 0;
  std::string host, device;
  int64_t correlations = 0;  // done by it in this attempt
};

struct Manifest {
  std::string attempt;  // --attempt: the scheduler's token; empty by hand
  SearchConfig config;
  InputHashes input_hashes;
  OutputPaths outputs;
  DeviceInfo device;
  std::vector<OtherRank> other_ranks;
  Timings timings;
  std::string precision = "fp32";                 // of precision_name()
  std::optional<PrecisionError> precision_error;  // measured, unless the precision is fp32
  std::optional<SearchGrid> grid{};               // of the search; nullopt: the micrograph's own
  std::optional<CropError> crop_error{};          // measured where there is a grid
  std::string fft = "fftw";                       // "fftw", "cufft", "fused"
  std::string tiling;  // of the CUDA fused path, from describe_tiling(); else empty
  int numerics_version = 1;
  std::string search_hash;
  int64_t orientations = 0, defocus_planes = 0, correlations = 0, units = 0;
  int micrograph_height = 0, micrograph_width = 0, template_size = 0, map_height = 0, map_width = 0;
  int64_t peaks = 0;
  std::string peak_metric = "scaled-mip";  // or "mip"
  double false_positives = 1.0;
  double mask_radius = 5.0;  // pixels
  double cutoff = 0;
  double best_z = 0;
  int64_t resumed_units = 0;                                  // finished by earlier attempts
  int64_t rank_0_correlations = 0;                            // done by rank 0 in this attempt
  std::vector<std::pair<std::string, std::string>> pictures;  // name, path
  std::vector<std::string> notes;
};

// Returns the text of manifest.json. Hashes the outputs and pictures, which must exist. Throws
// InputError.
std::string manifest_json(const Manifest& manifest);

// Writes manifest_json() atomically to outputs.manifest and syncs the folder. Throws InputError
// naming the file.
void write_manifest(const Manifest& manifest);

// What is needed of a finished search to pick peaks from its maps again.
struct SearchedMaps {
  int64_t correlations = 0;
  std::optional<SearchGrid> grid;  // nullopt: the micrograph's own
};
// Reads it from a manifest; nullopt when the file is missing, or that of a search with another
// scaled MIP than `scaled_mip`. Throws InputError when it is damaged or written by a newer version.
std::optional<SearchedMaps> read_searched_maps(const std::string& path,
                                               const std::string& scaled_mip);

}  // namespace engine
