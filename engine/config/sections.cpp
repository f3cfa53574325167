#include "engine/config/sections.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>

namespace engine {
namespace {

using Notes = std::vector<std::string>;

constexpr const char* kDigits = "0123456789";

// ---- optics_group

std::map<std::string, double> read_zernikes(const YamlSection& optics, const std::string& key,
                                            const std::vector<std::string>& known) {
  const YamlSection section = optics.optional_section(key);
  section.allow_only(known);
  std::map<std::string, double> result;
  for (const std::string& name : section.keys()) result[name] = section.value(name).number();
  return result;
}

std::optional<std::vector<double>> read_mag_matrix(const YamlSection& optics) {
  if (!optics.has("mag_matrix")) return std::nullopt;
  const YamlValue value = optics.value("mag_matrix");
  std::vector<double> matrix = value.numbers();
  if (matrix.size() != 4) {
    value.refuse("must have exactly 4 numbers, but has " + std::to_string(matrix.size()));
  }
  if (std::abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]) < 1e-6) {
    value.refuse("is singular: it squeezes the image into a line");
  }
  return matrix;
}

// Names of Leopard-EM 1.0 and 1.1, still in its examples, where they are null.
void refuse_old_zernikes(const YamlSection& optics) {
  if (optics.has("even_zernike")) optics.refuse("even_zernike", "is now called even_zernikes");
  if (optics.has("odd_zernike")) optics.refuse("odd_zernike", "is now called odd_zernikes");
  if (optics.has("zernike_moments")) {
    optics.refuse("zernike_moments", "is gone: write even_zernikes and odd_zernikes");
  }
}

void note_if_set(const YamlSection& section, const std::string& key, Notes& notes) {
  if (!section.has(key)) return;
  notes.push_back(section.key_path(key) + " has no effect on a search and is ignored.");
}

void note_ignored_optics(const YamlSection& optics, Notes& notes) {
  for (const std::string key : {"beam_tilt_x", "beam_tilt_y"}) {
    if (optics.number(key, 0.0) != 0.0) note_if_set(optics, key, notes);
  }
  if (optics.number_at_least("chromatic_aberration", 0.0, 0.0) != 0.0) {
    note_if_set(optics, "chromatic_aberration", notes);
  }
  note_if_set(optics, "mtf_reference", notes);
  note_if_set(optics, "mtf_values", notes);
}

}  // namespace

OpticsGroup read_optics(const YamlSection& section, Notes& notes) {
  section.allow_only({"label",
                      "pixel_size",
                      "voltage",
                      "spherical_aberration",
                      "amplitude_contrast_ratio",
                      "phase_shift",
                      "defocus_u",
                      "defocus_v",
                      "astigmatism_angle",
                      "ctf_B_factor",
                      "even_zernikes",
                      "odd_zernikes",
                      "mag_matrix",
                      "chromatic_aberration",
                      "mtf_reference",
                      "mtf_values",
                      "beam_tilt_x",
                      "beam_tilt_y",
                      "even_zernike",
                      "odd_zernike",
                      "zernike_moments"});
  refuse_old_zernikes(section);
  OpticsGroup optics;
  optics.label = section.text("label");
  optics.pixel_size = section.value("pixel_size").number_within(base::kPixelSize);
  optics.voltage = section.value("voltage").number_within(base::kVoltage);
  optics.spherical_aberration = section.number_within(
      "spherical_aberration", optics.spherical_aberration, base::kSphericalAberration);
  optics.amplitude_contrast_ratio = section.number_within(
      "amplitude_contrast_ratio", optics.amplitude_contrast_ratio, base::kAmplitudeContrast);
  optics.phase_shift = section.number_within("phase_shift", optics.phase_shift, base::kAngle);
  optics.defocus_u = section.value("defocus_u").number_within(base::kDefocus);
  optics.defocus_v = section.value("defocus_v").number_within(base::kDefocus);
  optics.astigmatism_angle = section.value("astigmatism_angle").number_within(base::kAngle);
  optics.ctf_b_factor = section.number_within("ctf_B_factor", optics.ctf_b_factor, base::kBFactor);
  optics.even_zernikes = read_zernikes(section, "even_zernikes", {"Z44c", "Z44s", "Z60"});
  optics.odd_zernikes = read_zernikes(section, "odd_zernikes", {"Z31c", "Z31s", "Z33c", "Z33s"});
  optics.mag_matrix = read_mag_matrix(section);
  note_ignored_optics(section, notes);
  return optics;
}

DefocusSearch read_defocus(const YamlSection& section) {
  section.allow_only(
      {"enabled", "defocus_min", "defocus_max", "defocus_step", "skip_enforce_zero"});
  DefocusSearch search;
  search.enabled = section.flag("enabled", search.enabled);
  search.min = section.number("defocus_min", search.min);
  search.max = section.number("defocus_max", search.max);
  if (section.has("defocus_step")) search.step = section.value("defocus_step").positive_number();
  search.skip_enforce_zero = section.flag("skip_enforce_zero", search.skip_enforce_zero);
  const std::string problem = planes_problem(search);
  if (!problem.empty()) section.refuse("", problem);
  return search;
}

namespace {

// ---- orientation_search_config

BaseGrid read_base_grid(const YamlSection& section) {
  if (!section.has("base_grid_method")) return BaseGrid::kUniform;
  const std::string name = section.text("base_grid_method");
  if (name == "uniform") return BaseGrid::kUniform;
  if (name == "healpix") return BaseGrid::kHealpix;
  if (name == "cartesian") return BaseGrid::kCartesian;
  section.refuse("base_grid_method",
                 "must be uniform, healpix or cartesian, but is '" + name + "'");
}

// Leopard-EM takes c1 for C1 and C for C1; from here on there is one way to write a group.
std::string read_symmetry(const YamlSection& section) {
  const std::string written = section.text("symmetry");
  const size_t order_at = std::min(written.size(), written.find_first_of(kDigits));
  std::string letter = written.substr(0, order_at);
  std::string digits = written.substr(order_at);
  const bool letters = std::all_of(letter.begin(), letter.end(), [](unsigned char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  if (letter.empty() || !letters || digits.find_first_not_of(kDigits) != std::string::npos) {
    section.refuse(
        "symmetry",
        "must be a letter and an order, such as C1, D7, T, O or I, but is '" + written + "'");
  }
  if (letter.size() == 1) letter[0] = static_cast<char>(std::toupper(letter[0]));
  if (letter == "T" || letter == "O" || letter == "I") return letter;
  if (letter != "C" && letter != "D") {
    section.refuse("symmetry", "'" + written + "' is not a known group: C, D, T, O or I");
  }
  if (digits.empty()) digits = "1";
  if (digits.size() > 4 || std::stoi(digits) < 1) {
    section.refuse("symmetry", "'" + written + "' must have an order from 1 to 9999");
  }
  return letter + std::to_string(std::stoi(digits));
}

// `full`: where the range of this angle ends that is not given.
AngleRange read_range(const YamlSection& section, const std::string& angle, double full,
                      const std::optional<std::string>& symmetry) {
  const AngleRange range = {section.optional_number(angle + "_min"),
                            section.optional_number(angle + "_max")};
  if (symmetry && (range.min || range.max)) {
    section.refuse(angle + (range.min ? "_min" : "_max"),
                   "is given although the symmetry group " + *symmetry +
                       " sets the ranges: write symmetry: null to use ranges");
  }
  if (range.max.value_or(full) < range.min.value_or(0.0)) {
    section.refuse(angle + (range.max ? "_max" : "_min"),
                   "leaves no orientation: " + angle + "_max is less than " + angle + "_min");
  }
  return range;
}

OrientationGrid read_grid(const YamlSection& section) {
  section.allow_only({"psi_step", "theta_step", "base_grid_method", "symmetry", "phi_min",
                      "phi_max", "theta_min", "theta_max", "psi_min", "psi_max",
                      "orientation_configs"});
  OrientationGrid grid;
  if (section.has("psi_step")) grid.psi_step = section.value("psi_step").positive_number();
  if (section.has("theta_step")) grid.theta_step = section.value("theta_step").positive_number();
  grid.base_grid = read_base_grid(section);
  if (section.mentions("symmetry")) grid.symmetry.reset();
  if (section.has("symmetry")) grid.symmetry = read_symmetry(section);
  grid.phi = read_range(section, "phi", 360.0, grid.symmetry);
  grid.theta = read_range(section, "theta", 180.0, grid.symmetry);
  grid.psi = read_range(section, "psi", 360.0, grid.symmetry);
  const auto given = [](const AngleRange& range) { return range.min || range.max; };
  if (!grid.symmetry && !given(grid.phi) && !given(grid.theta) && !given(grid.psi)) {
    section.refuse("symmetry",
                   "is null, so that phi_min to psi_max must give the ranges, or name "
                   "a group such as C1");
  }
  return grid;
}

}  // namespace

std::vector<OrientationGrid> read_orientations(const YamlSection& section) {
  if (!section.has("orientation_configs")) return {read_grid(section)};
  section.allow_only({"orientation_configs"});
  std::vector<OrientationGrid> grids;
  const YamlValue list = section.value("orientation_configs");
  for (const YamlValue& item : list.items()) {
    const YamlSection grid = item.as_section();
    if (grid.mentions("orientation_configs")) {
      grid.refuse("orientation_configs", "cannot stand inside another one");
    }
    grids.push_back(read_grid(grid));
  }
  if (grids.empty()) list.refuse("is empty: there is nothing to search");
  return grids;
}

namespace {

// ---- preprocessing_filters

WhiteningFilter read_whitening(const YamlSection& section) {
  section.allow_only({"enabled", "num_freq_bins", "max_freq", "do_power_spectrum"});
  WhiteningFilter filter;
  filter.enabled = section.flag("enabled", filter.enabled);
  if (section.has("num_freq_bins")) filter.num_freq_bins = section.integer("num_freq_bins", 2, 2);
  if (section.has("max_freq")) {
    filter.max_freq = section.value("max_freq").positive_number();
  } else if (section.mentions("max_freq")) {
    filter.max_freq.reset();
  }
  // Leopard-EM takes a null for false here.
  filter.do_power_spectrum =
      section.flag("do_power_spectrum", !section.mentions("do_power_spectrum"));
  return filter;
}

BandpassFilter read_bandpass(const YamlSection& section) {
  section.allow_only({"enabled", "low_freq_cutoff", "high_freq_cutoff", "falloff"});
  BandpassFilter filter;
  filter.enabled = section.flag("enabled", filter.enabled);
  filter.low_freq_cutoff = section.number_at_least("low_freq_cutoff", filter.low_freq_cutoff, 0.0);
  filter.high_freq_cutoff =
      section.number_at_least("high_freq_cutoff", filter.high_freq_cutoff, 0.0);
  filter.falloff = section.number_at_least("falloff", filter.falloff, 0.0);
  // With a falloff the slopes of a band without width still pass something.
  const bool empty = filter.low_freq_cutoff >= filter.high_freq_cutoff && filter.falloff == 0;
  if (filter.enabled && empty) {
    section.refuse("high_freq_cutoff", "must be greater than low_freq_cutoff, or nothing passes");
  }
  return filter;
}

ArbitraryCurveFilter read_curve(const YamlSection& section) {
  section.allow_only({"enabled", "frequencies", "amplitudes"});
  ArbitraryCurveFilter curve;
  curve.enabled = section.flag("enabled", curve.enabled);
  if (section.has("frequencies")) curve.frequencies = section.value("frequencies").numbers();
  if (section.has("amplitudes")) curve.amplitudes = section.value("amplitudes").numbers();
  if (!curve.enabled) return curve;
  if (curve.frequencies.empty()) section.refuse("frequencies", "is needed by an enabled curve");
  if (curve.amplitudes.empty()) section.refuse("amplitudes", "is needed by an enabled curve");
  if (curve.frequencies.size() != curve.amplitudes.size()) {
    section.refuse("amplitudes", "has " + std::to_string(curve.amplitudes.size()) + " values for " +
                                     std::to_string(curve.frequencies.size()) + " frequencies");
  }
  const auto fall = std::adjacent_find(curve.frequencies.begin(), curve.frequencies.end(),
                                       std::greater_equal<>());
  if (fall != curve.frequencies.end()) section.refuse("frequencies", "must ascend");
  return curve;
}

void read_ignored_filters(const YamlSection& filters, Notes& notes) {
  const YamlSection phase = filters.optional_section("phase_randomization_filter");
  phase.allow_only({"enabled", "cuton"});
  phase.number_at_least("cuton", 0.0, 0.0);
  if (phase.flag("enabled", false)) note_if_set(filters, "phase_randomization_filter", notes);
  const YamlSection dropout = filters.optional_section("random_fourier_dropout");
  dropout.allow_only({"enabled", "dropout_fraction", "seed"});
  if (dropout.flag("enabled", false)) {
    dropout.refuse("enabled", "is true, but random dropout is not supported yet: set it to false");
  }
}

}  // namespace

PreprocessingFilters read_filters(const YamlSection& section, Notes& notes) {
  section.allow_only({"whitening_filter", "bandpass_filter", "phase_randomization_filter",
                      "arbitrary_curve_filter", "random_fourier_dropout"});
  PreprocessingFilters filters;
  filters.whitening = read_whitening(section.optional_section("whitening_filter"));
  filters.bandpass = read_bandpass(section.optional_section("bandpass_filter"));
  filters.arbitrary_curve = read_curve(section.optional_section("arbitrary_curve_filter"));
  read_ignored_filters(section, notes);
  return filters;
}

}  // namespace engine
