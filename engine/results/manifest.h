// manifest.json: the proof that a search is finished, written last. Its absence means unfinished.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  std::vector<std::string> transforms;                         // that this build has for it
};

// SHA-256, in hex, of what the search read: the files may be replaced as soon as they are open.
struct InputHashes {
  std::string configuration, micrograph, volume;
};
// `files` as read_inputs() returns them.
InputHashes hash_inputs(const SearchConfig& config, const InputFiles& files);

// A rank other than 0, which is the manifest's own host and device.
struct OtherRank {
  int rank = 0;
  std::string host, device;
  int64_t correlations = 0;  // that it did in this attempt
};

struct Manifest {
  std::string attempt;  // --attempt: the scheduler's token; empty by hand
  SearchConfig config;
  InputHashes input_hashes;
  OutputPaths outputs;
  DeviceInfo device;
  std::vector<OtherRank> other_ranks;
  Timings timings;
  std::string precision = "fp32";                 // as precision_name has it
  std::optional<PrecisionError> precision_error;  // measured, unless it is fp32
  std::string fft = "fftw";                       // "fftw", "cufft", "fused"
  std::string tiling;                             // of the fused path, as describe_tiling has it
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
  int64_t rank_0_correlations = 0;                            // as of the other ranks
  std::vector<std::pair<std::string, std::string>> pictures;  // name, path
  std::vector<std::string> notes;
};

// The text of manifest.json. Hashes the outputs and pictures, which must exist. Throws InputError.
std::string manifest_json(const Manifest& manifest);

// Writes it atomically to outputs.manifest and syncs the folder. Throws InputError naming the file.
void write_manifest(const Manifest& manifest);

// How many correlations the search of a manifest had; nullopt when the file is absent. Throws
// InputError when it is damaged.
std::optional<int64_t> read_correlations(const std::string& path);

}  // namespace engine
