// margay-engine peaks: picks again from the maps of a finished search.
#include <cstdio>
#include <iostream>

#include "engine/commands/commands.h"
#include "engine/config/config_reader.h"
#include "engine/config/input_checks.h"
#include "engine/io/mrc.h"
#include "engine/numerics/orientations.h"
#include "engine/results/manifest.h"
#include "engine/results/peaks_csv.h"
#include "engine/results/results.h"

namespace engine {
namespace {

// From the manifest beside the maps, else (maps of Leopard-EM) as the configuration says.
int64_t count_correlations(const SearchConfig& config, const std::string& manifest) {
  FinishedCounts counts;
  if (read_manifest_counts(manifest, counts)) return counts.correlations;
  tell("'" + manifest + "' is not there: the correlations are counted from the configuration");
  return count_orientations(config.orientations) *
         static_cast<int64_t>(defocus_planes(config.defocus).size());
}

void check_output(const PeaksCommand& command, const SearchConfig& config) {
  if (command.output.empty()) return;
  const ResultPaths& maps = config.results;
  check_output_file(
      "--output", command.output, command.overwrite || maps.allow_file_overwrite,
      {command.config, config.micrograph_path, config.template_volume_path, maps.mip,
       maps.scaled_mip, maps.correlation_average, maps.correlation_variance, maps.orientation_psi,
       maps.orientation_theta, maps.orientation_phi, maps.relative_defocus});
}

}  // namespace

ExitCode peaks_command(const PeaksCommand& command) {
  const SearchConfig config = read_search_config(command.config);
  check_output(command, config);
  Maps maps = read_maps(config.results);
  maps.total_correlations = count_correlations(config, output_paths(config, "").manifest);
  const int template_size = read_mrc_header(config.template_volume_path).nx;
  const std::vector<Peak> peaks = find_peaks(maps, command.peaks);
  if (command.output.empty()) {
    std::cout << peaks_csv(peaks, config, maps.total_correlations, template_size) << std::flush;
    if (!std::cout) throw InputError("the peak list could not be written to stdout");
  } else {
    write_peaks_csv(command.output, peaks, config, maps.total_correlations, template_size);
  }
  char summary[80];
  std::snprintf(summary, sizeof summary, "%zu peaks above %.3f", peaks.size(),
                peak_cutoff(maps, command.peaks));
  tell(summary);
  return ExitCode::kDone;
}

}  // namespace engine
