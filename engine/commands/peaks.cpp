// Implements add_peaks of commands.h: picks again from the maps of a finished search.
#include <iostream>

#include "base/text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/config/named_maps.h"
#include "engine/io/format.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"
#include "engine/numerics/orientations.h"
#include "engine/results/manifest.h"
#include "engine/results/peaks_csv.h"
#include "engine/results/results.h"

namespace engine {
namespace {

struct PeaksCommand {
  std::string config;
  std::string output;  // empty: stdout
  bool overwrite = false;
  PeakChoice peaks;
};

// What the maps are of: from the manifest beside them; without one, as for maps of Leopard-EM, from
// the configuration.
SearchedMaps find_search(const SearchConfig& config, const Maps& maps, int template_size) {
  const std::string manifest = output_paths(config, "").manifest;
  if (auto found = read_searched_maps(manifest, config.results.scaled_mip)) return *found;
  print_message("note: no manifest '" + manifest +
                "' of these maps; counting the correlations from the configuration");
  return {.correlations = count_orientations(config.orientations) *
                          static_cast<int64_t>(defocus_planes(config.defocus).size()),
          .grid = search_grid_of(config, maps.height + template_size - 1,
                                 maps.width + template_size - 1, template_size)};
}

void check_output(const PeaksCommand& command, const SearchConfig& config) {
  if (command.output.empty()) return;
  check_ending("--output", command.output, Written::kCsv);
  std::vector<std::string> others = {command.config, config.micrograph_path,
                                     config.template_volume_path};
  for (const NamedMap& map : kMaps) others.push_back(config.results.*map.path);
  check_output_file("--output", command.output,
                    command.overwrite || config.results.allow_file_overwrite, others);
}

ExitCode run(const PeaksCommand& command) {
  const SearchConfig config = read_search_config(command.config);
  check_output(command, config);
  Maps maps = read_maps(config.results);
  const int template_size = read_mrc_header(config.template_volume_path).nx;
  const SearchedMaps search = find_search(config, maps, template_size);
  maps.total_correlations = search.correlations;
  const PeakOptions options = peak_options(command.peaks, config);
  const std::vector<Peak> peaks = find_peaks(maps, options, search.grid);
  const std::string text = peaks_csv(peaks, config, maps.total_correlations, template_size);
  if (command.output.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) throw InputError("the peak list could not be written to stdout");
  } else {
    write_text_atomically(command.output, text);
  }
  print_message(base::counted(static_cast<int64_t>(peaks.size()), "peak") +
                format(" above %.3f", peak_cutoff(maps, options, search.grid)));
  return ExitCode::kDone;
}

}  // namespace

void add_peaks(CLI::App& app, ExitCode& code) {
  const auto [command, peaks] = add_command<PeaksCommand>(
      app, code, "peaks", "Pick peaks again from finished maps",
      "Example:\n  margay-engine peaks search.yaml --false-positives 0.1 --output strict.csv", run);
  add_config(command, peaks.config, "Configuration of the finished search");
  add_file(command, "--output", peaks.output, "Write the peak list to this file (default: stdout)");
  command.add_flag("--overwrite", peaks.overwrite, "Replace the peak list");
  add_peak_options(command, peaks.peaks);
  add_choice_of_number(command, "--cutoff", peaks.peaks.cutoff, -1e6, 1e6,
                       "Use this threshold instead of one from --false-positives");
}

}  // namespace engine
