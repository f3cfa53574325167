// Implements add_simulate of commands.h: writes a micrograph with known particles and their list.
#include "engine/numerics/simulate.h"

#include <filesystem>
#include <utility>

#include "base/optics_limits.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/error.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"
#include "engine/results/results.h"
#include "engine/search/selftest.h"

namespace engine {
namespace {

struct SimulateCommand {
  std::string volume;
  std::string config;  // its optics, defocus planes and template; empty: the options'
  std::string output;
  std::string truth;      // empty: NAME_truth.csv beside NAME.mrc
  std::string particles;  // a truth table to plant; empty: drawn at random
  OpticsGroup optics;     // pixel_size 0: the template's header's
  SimulationOptions simulation;
  bool overwrite = false;
};

namespace fs = std::filesystem;

uint64_t parse_seed(const std::string& text) {
  const auto seed = base::parse_number<uint64_t>(text);
  if (!seed) {
    throw UsageError("--seed: expected a whole number from 0 to 2^64 - 1, got '" + text + "'");
  }
  return *seed;
}

std::string truth_path(const SimulateCommand& command) {
  if (!command.truth.empty()) return command.truth;
  const fs::path output(command.output);
  return (output.parent_path() / (output.stem().string() + "_truth.csv")).string();
}

// The configuration replaces the optics and planes of the options, which exclude each other.
void read_configuration(SimulateCommand& command) {
  if (command.config.empty()) return;
  const SearchConfig config = read_search_config(command.config);
  command.optics = config.optics;
  command.simulation.defocus_offsets = defocus_planes(config.defocus);
  if (command.volume.empty()) command.volume = config.template_volume_path;
}

MrcFile read_volume(SimulateCommand& command) {
  if (command.volume.empty()) {
    throw UsageError("--template is missing: name the template, or a --config that names it");
  }
  MrcFile file = read_mrc(command.volume);
  if (command.optics.pixel_size == 0) command.optics.pixel_size = file.header.pixel_size[0];
  if (command.optics.pixel_size <= 0) {
    throw UsageError("--pixel-size is missing: '" + command.volume + "' has none in its header");
  }
  if (file.header.nx < 2 || file.header.nx % 2 != 0) {
    throw InputError("'" + command.volume + "' has a side of " + std::to_string(file.header.nx) +
                     " voxels, but it must be even");
  }
  return file;
}

ExitCode run(const SimulateCommand& given) {
  SimulateCommand command = given;
  const std::string truth = truth_path(command);
  check_ending("--output", command.output, Written::kMrc);
  check_ending("--truth", truth, Written::kCsv);
  read_configuration(command);
  check_output_file("--output", command.output, command.overwrite,
                    {command.volume, command.config, command.particles, truth});
  check_output_file("--truth", truth, command.overwrite,
                    {command.volume, command.config, command.particles});
  if (!command.particles.empty()) {
    command.simulation.planted = read_truth_csv(command.particles);
    if (command.simulation.planted.empty()) {
      throw InputError("--particles: '" + command.particles + "' holds no particle");
    }
  }
  const Volume volume = to_volume(read_volume(command));
  const Simulation made = simulate(volume, command.optics, command.simulation);
  write_image(command.output, made.micrograph, command.optics.pixel_size);
  write_text_atomically(truth, truth_csv(made.truth));
  print_message(base::counted(static_cast<int64_t>(made.truth.size()), "particle") + " in '" +
                command.output + "', listed in '" + truth + "'");
  return ExitCode::kDone;
}

void add_optics(CLI::App& command, OpticsGroup& optics) {
  add_number(command, "--pixel-size", optics.pixel_size, 0, 100,
             "Pixel size in A (0 = from the template's header)");
  add_number(command, "--voltage", optics.voltage, base::kVoltage.least, base::kVoltage.most,
             "Voltage in kV");
  add_number(command, "--spherical-aberration", optics.spherical_aberration,
             base::kSphericalAberration.least, base::kSphericalAberration.most,
             "Spherical aberration in mm");
  add_number(command, "--amplitude-contrast", optics.amplitude_contrast_ratio,
             base::kAmplitudeContrast.least, base::kAmplitudeContrast.most,
             "Amplitude contrast ratio");
  add_number(command, "--defocus-u", optics.defocus_u, base::kDefocus.least, base::kDefocus.most,
             "Defocus u in A, underfocus positive");
  add_number(command, "--defocus-v", optics.defocus_v, base::kDefocus.least, base::kDefocus.most,
             "Defocus v in A");
  add_number(command, "--astigmatism-angle", optics.astigmatism_angle, base::kAngle.least,
             base::kAngle.most, "Angle of defocus u in degrees");
  for (const char* name :
       {"--pixel-size", "--voltage", "--spherical-aberration", "--amplitude-contrast",
        "--defocus-u", "--defocus-v", "--astigmatism-angle"}) {
    command.get_option(name)->excludes("--config");  // it has them, too
  }
}

}  // namespace

void add_simulate(CLI::App& app, ExitCode& code) {
  const auto [command, simulate] = add_command<SimulateCommand>(
      app, code, "simulate", "Simulate a micrograph with known particles, and list them",
      "Example:\n  margay-engine simulate --template ribosome.mrc --defocus-u 10200 --defocus-v "
      "9800 --size 1024 --count 10 --output made.mrc",
      run);
  simulate.optics.voltage = 300;
  simulate.optics.defocus_u = simulate.optics.defocus_v = 10000;
  SimulationOptions& made = simulate.simulation;
  add_file(command, "--template", simulate.volume, "Template, an MRC volume");
  add_file(command, "--config", simulate.config,
           "Use optics, defocus planes and template of this configuration");
  add_file(command, "--output", simulate.output, "Write the micrograph to this MRC file")
      .required();
  add_file(command, "--truth", simulate.truth,
           "Write the list of particles to this file (default: NAME_truth.csv beside NAME.mrc)");
  add_file(command, "--particles", simulate.particles,
           "Plant the particles of this list (x_px, y_px, phi_deg, theta_deg, psi_deg, "
           "defocus_offset_A) instead of random ones");
  command
      .add_option_function<int>(
          "--size", [&made](int size) { made.height = made.width = size; },
          "Side of the micrograph in pixels (default: 512)")
      ->transform(range(2, 100000))
      ->type_name("N");
  add_count(command, "--count", made.particles, 0, 1000000, "Number of random particles")
      .capture_default_str();
  command
      .add_option_function<std::string>(
          "--seed", [&made](const std::string& text) { made.seed = parse_seed(text); },
          "Seed of the random numbers (default: 1)")
      ->type_name("N");
  add_number(command, "--z", made.z, 0, 1e4,
             "Signal as the z of a matched filter at the true pose");
  add_optics(command, simulate.optics);
  command.add_flag("--overwrite", simulate.overwrite, "Replace existing files");
}

}  // namespace engine
