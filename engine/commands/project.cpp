// Implements add_project of commands.h: writes one projection as the search uses it (density dark).
#include <complex>
#include <vector>

#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/error.h"
#include "engine/io/mrc.h"
#include "engine/numerics/ctf.h"
#include "engine/numerics/fft.h"
#include "engine/numerics/preprocess.h"
#include "engine/numerics/projection.h"
#include "engine/results/results.h"

namespace engine {
namespace {

struct ProjectCommand {
  std::string volume;
  std::string output;
  double phi = 0, theta = 0, psi = 0;  // degrees
  std::string config;                  // its optics are applied; empty: none
  double relative_defocus = 0;         // A
  bool overwrite = false;
};

void apply_ctf(const ProjectCommand& command, int n, std::vector<std::complex<double>>& slice) {
  const SearchConfig config = read_search_config(command.config);
  const auto transfer = ctf(config.optics, command.relative_defocus, n);
  for (size_t i = 0; i < slice.size(); ++i) slice[i] *= transfer[i];
}

ExitCode run(const ProjectCommand& command) {
  check_ending("--output", command.output, Written::kMrc);
  check_output_file("--output", command.output, command.overwrite,
                    {command.volume, command.config});
  MrcFile file = read_mrc(command.volume);
  const double pixel_size = file.header.pixel_size[0];
  const Volume volume = to_volume(std::move(file));
  const int n = volume.size;
  if (n < 2 || n % 2 != 0) {
    throw InputError("'" + command.volume + "' has a side of " + std::to_string(n) +
                     " voxels, but it must be even");
  }
  const auto spectrum = volume_spectrum(volume);
  std::vector<std::complex<float>> slice(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1));
  extract_slice(spectrum.data(), n, rotation_matrix(command.phi, command.theta, command.psi),
                slice.data());
  std::vector<std::complex<double>> filtered(slice.begin(), slice.end());
  if (!command.config.empty()) apply_ctf(command, n, filtered);
  const std::vector<double> back = inverse_2d(std::move(filtered), n, n);
  const std::vector<float> corner(back.begin(), back.end());
  Image projection(n, n);
  centre_projection(corner.data(), n, projection.pixels.data());
  write_image(command.output, projection, pixel_size);
  print_message("projection written to '" + command.output + "'");
  return ExitCode::kDone;
}

}  // namespace

void add_project(CLI::App& app, ExitCode& code) {
  const auto [command, project] = add_command<ProjectCommand>(
      app, code, "project", "Project a template as the search sees it (density dark)",
      "Example:\n  margay-engine project template.mrc --phi 30 --theta 40 --psi 50 --output "
      "view.mrc",
      run);
  add_file(command, "TEMPLATE", project.volume, "Template, an MRC volume").required();
  add_file(command, "--output", project.output, "Write the projection to this MRC file").required();
  const double turns = 36000.0;
  add_number(command, "--phi", project.phi, -turns, turns, "phi in degrees (ZYZ)");
  add_number(command, "--theta", project.theta, -turns, turns, "theta in degrees");
  add_number(command, "--psi", project.psi, -turns, turns, "psi in degrees");
  add_file(command, "--config", project.config,
           "Apply the CTF of this configuration (default: none)");
  add_number(command, "--defocus", project.relative_defocus, -1e6, 1e6,
             "Offset from the defocus of --config, in A");
  command.add_flag("--overwrite", project.overwrite, "Replace an existing file");
}

}  // namespace engine
