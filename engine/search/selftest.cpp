#include "engine/search/selftest.h"

#include <atomic>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/parse_number.h"
#include "engine/config/config_reader.h"
#include "engine/error.h"
#include "engine/io/format.h"
#include "engine/io/mrc.h"
#include "engine/search/search.h"

namespace engine {
namespace {

// The box's corner convention, and half a step of the grid in every angle.
constexpr double kMaxPixels = 1.0;
constexpr double kGridStep = 5.0;  // degrees, the coarsest step of the searches here

Maps search_maps(const SearchConfig& config, const Image& micrograph, const Volume& volume,
                 const DeviceOptions& device) {
  const Search search = prepare_search(config, micrograph, volume);
  const Problem& p = search.problem;
  const DevicePlan plan = plan_device({p.height, p.width, p.template_size, p.planes()}, device);
  const auto backend = make_backend(p, plan);
  const std::atomic<bool> never = false;
  const RunResult result = run_search(search, *backend, {}, never);
  return finalise(result.accumulators, search.space.list.orientations, search.space.planes);
}

void judge(const std::string& title, const std::vector<PlantedParticle>& truth, const Maps& maps,
           int template_size, SelftestResult& result) {
  constexpr double kLookWithin = 5.0;
  const std::vector<Peak> peaks = find_peaks(maps, {});
  result.lines.push_back(title + format(": %zu planted, %zu peaks above z %.2f", truth.size(),
                                        peaks.size(), peak_cutoff(maps, {})));
  for (const Recovery& r : compare_with_truth(truth, peaks, template_size, kLookWithin)) {
    const bool good = r.found && r.pixels <= kMaxPixels * std::sqrt(2.0) && r.degrees <= kGridStep;
    result.passed = result.passed && good;
    const std::string planted =
        format("  planted at (%6.1f, %6.1f) phi %5.1f theta %5.1f psi %5.1f: ", r.truth.x,
               r.truth.y, r.truth.phi, r.truth.theta, r.truth.psi);
    result.lines.push_back(planted +
                           (r.found
                                ? format("found %.2f px and %.1f degrees away, z %.2f", r.pixels,
                                         r.degrees, static_cast<double>(r.peak.scaled_mip))
                                : "not found") +
                           (good ? "" : "  FAILED"));
  }
}

OrientationGrid cone(double phi, double theta, double psi, double half_width) {
  return {.psi_step = 3.0,
          .theta_step = kGridStep,
          .symmetry = std::nullopt,
          .phi = {phi - half_width, phi + half_width},
          .theta = {theta - half_width, theta + half_width},
          .psi = {psi - 2 * half_width, psi + 2 * half_width}};
}

// The cells of one line of a table; none of an empty line.
std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

std::optional<double> finite_number(const std::string& text) {
  const auto value = base::parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

std::vector<Recovery> compare_with_truth(const std::vector<PlantedParticle>& truth,
                                         const std::vector<Peak>& peaks, int template_size,
                                         double max_pixels) {
  std::vector<Recovery> out;
  for (const PlantedParticle& particle : truth) {
    Recovery r{.truth = particle};
    for (const Peak& peak : peaks) {
      const double distance = std::hypot(peak.x + template_size / 2 - particle.x,
                                         peak.y + template_size / 2 - particle.y);
      if (distance > max_pixels || (r.found && distance >= r.pixels)) continue;
      r.found = true;
      r.peak = peak;
      r.pixels = distance;
      r.degrees = rotation_distance(
          rotation_matrix(particle.phi, particle.theta, particle.psi),
          rotation_matrix(static_cast<double>(peak.phi), static_cast<double>(peak.theta),
                          static_cast<double>(peak.psi)));
    }
    out.push_back(r);
  }
  return out;
}

std::vector<PlantedParticle> read_truth_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError("truth table '" + path + "' cannot be read");
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<PlantedParticle> out;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    const auto number = [&](const std::string& name) {
      for (size_t i = 0; i < names.size() && i < cells.size(); ++i) {
        if (names[i] != name) continue;
        if (const auto value = finite_number(cells[i])) return *value;
        throw InputError("truth table '" + path + "': " + name + " of particle " +
                         std::to_string(out.size() + 1) + " is '" + cells[i] + "', not a number");
      }
      throw InputError("truth table '" + path + "' has no column " + name);
    };
    out.push_back({.x = number("x_px"),
                   .y = number("y_px"),
                   .phi = number("phi_deg"),
                   .theta = number("theta_deg"),
                   .psi = number("psi_deg"),
                   .defocus_offset = number("defocus_offset_A")});
  }
  return out;
}

SelftestResult run_selftest(const std::string& data_folder, const DeviceOptions& device) {
  SelftestResult result;
  SearchConfig config = read_search_config(data_folder + "/lsu_crop.yaml");
  const Volume volume = to_volume(read_mrc(data_folder + "/" + config.template_volume_path));
  const Image crop = to_image(read_mrc(data_folder + "/" + config.micrograph_path));
  judge("made from atoms", read_truth_csv(data_folder + "/lsu_crop_truth.csv"),
        search_maps(config, crop, volume, device), volume.size, result);

  const SimulationOptions simulated{.height = 256,
                                    .width = 288,
                                    .particles = 2,
                                    .seed = 20,
                                    .z = 20,
                                    .defocus_offsets = {0.0f},
                                    .orientations = {{31, 62, 43}, {133, 101, 211}}};
  const Simulation simulation = simulate(volume, config.optics, simulated);
  config.defocus.enabled = false;
  config.orientations = {cone(30, 60, 45, 10), cone(135, 100, 210, 10)};
  judge("simulated", simulation.truth, search_maps(config, simulation.micrograph, volume, device),
        volume.size, result);
  return result;
}

}  // namespace engine
