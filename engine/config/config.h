// The configuration of a search: Leopard-EM's MatchTemplateManager YAML (v1.0 to v1.3) as a struct.
// Reading it (config_reader.h) checks types, ranges and unknown keys; checks that need the files
// themselves are in input_checks.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct OpticsGroup {
  std::string label;
  double pixel_size = 0.0;            // A
  double voltage = 0.0;               // kV
  double spherical_aberration = 2.7;  // mm
  double amplitude_contrast_ratio = 0.07;
  double phase_shift = 0.0;        // degrees
  double defocus_u = 0.0;          // A, underfocus positive
  double defocus_v = 0.0;          // A
  double astigmatism_angle = 0.0;  // degrees, of defocus_u, from x (columns) towards y (rows)
  double ctf_b_factor = 0.0;       // A^2
  std::map<std::string, double> even_zernikes;    // Z44c, Z44s, Z60 (radians)
  std::map<std::string, double> odd_zernikes;     // Z31c, Z31s, Z33c, Z33s (radians)
  std::optional<std::vector<double>> mag_matrix;  // 4 values, row-major 2x2, y before x
};

struct DefocusSearch {
  bool enabled = true;
  double min = -1000.0;  // A, relative to the CTF's defocus
  double max = 1000.0;
  double step = 200.0;
  bool skip_enforce_zero = false;
};

struct AngleRange {
  std::optional<double> min, max;  // empty: the whole range
};

enum class BaseGrid { kUniform, kHealpix, kCartesian };

// One orientation grid, angles in degrees.
struct OrientationGrid {
  double psi_step = 1.5;    // in-plane
  double theta_step = 2.5;  // out-of-plane
  BaseGrid base_grid = BaseGrid::kUniform;
  // Where it is set the ranges follow from the group, else the ranges below apply.
  std::optional<std::string> symmetry = "C1";
  AngleRange phi{}, theta{}, psi{};
};

struct WhiteningFilter {
  bool enabled = true;
  std::optional<int> num_freq_bins;
  std::optional<double> max_freq = 0.5;  // cycles/pixel
  bool do_power_spectrum = true;
};

struct BandpassFilter {
  bool enabled = false;
  double low_freq_cutoff = 0.0;  // cycles/pixel
  double high_freq_cutoff = 1.0;
  double falloff = 0.0;
};

struct ArbitraryCurveFilter {
  bool enabled = false;
  std::vector<double> frequencies;  // cycles/pixel, ascending
  std::vector<double> amplitudes;
};

struct PreprocessingFilters {
  WhiteningFilter whitening;
  BandpassFilter bandpass;
  ArbitraryCurveFilter arbitrary_curve;
};

// Paths of the eight maps, as written in the configuration (relative to the working directory).
struct ResultPaths {
  bool allow_file_overwrite = false;
  std::string mip, scaled_mip, correlation_average, correlation_variance, orientation_psi,
      orientation_theta, orientation_phi, relative_defocus;
};

// Margay's own section about picking peaks, which Leopard-EM refuses. Empty: not in the file.
struct PeakSection {
  std::optional<std::string> metric;  // "scaled-mip" or "mip"
  std::optional<double> false_positives;
  std::optional<double> particle_radius;  // A: no peak is picked this close to a higher one
};

struct ComputationalConfig {
  // Devices as written: "0", "all", "cpu", "cuda:1"...
  std::vector<std::string> gpu_ids = {"0"};
  int num_cpus = 1;
  std::string backend = "streamed";
};

struct SearchConfig {
  std::string path;  // of the YAML file; empty when read from text
  std::string micrograph_path;
  std::string template_volume_path;
  // SHA-256 of the two files, in lower-case hex; a file with another hash is refused. Empty: any
  // content is accepted.
  std::string micrograph_sha256, template_volume_sha256;
  OpticsGroup optics;
  DefocusSearch defocus;
  std::vector<OrientationGrid> orientations;  // one, or several joined in order
  PreprocessingFilters filters;
  // Margay's own: to search on a coarser grid that holds what the bandpass lets pass.
  bool fourier_crop = false;
  ResultPaths results;
  ComputationalConfig computation;
  PeakSection peaks;
  // A sentence for each value that has no effect (Leopard-EM ignores it too, or warns), to be shown
  // once.
  std::vector<std::string> notes;
};

// Returns the planes to search, in A relative to the CTF's defocus, float32 as in Leopard-EM: count
// = ceil((max + step - min) / step), and zero is added unless skip_enforce_zero (docs/numerics.md,
// Defocus planes). Throws InputError where planes_problem() finds a problem.
std::vector<float> defocus_planes(const DefocusSearch& search);
// Returns why `search` has no planes, or more than 100,000; empty where it has neither problem.
std::string planes_problem(const DefocusSearch& search);

}  // namespace engine
