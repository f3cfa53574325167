// margay-engine simulate: a micrograph with known particles, and the list of them.
#include <filesystem>
#include <utility>

#include "engine/commands/commands.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/io/mrc.h"
#include "engine/results/results.h"
#include "engine/search/selftest.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

std::string truth_path(const SimulateCommand& command) {
  if (!command.truth.empty()) return command.truth;
  const fs::path output(command.output);
  return (output.parent_path() / (output.stem().string() + "_truth.csv")).string();
}

// What the configuration says goes before the options.
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

}  // namespace

ExitCode simulate_command(const SimulateCommand& given) {
  SimulateCommand command = given;
  const std::string truth = truth_path(command);
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
  tell(std::to_string(made.truth.size()) + " particles in '" + command.output + "', listed in '" +
       truth + "'");
  return ExitCode::kDone;
}

}  // namespace engine
