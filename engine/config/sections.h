// The configuration's sections, one reader each: types, ranges, unknown keys.
#pragma once

#include <string>
#include <vector>

#include "base/yaml_section.h"
#include "engine/config/config.h"

namespace engine {

using base::YamlSection;
using base::YamlValue;

// `notes` gains a sentence for each value that has no effect.
OpticsGroup read_optics(const YamlSection& section, std::vector<std::string>& notes);
DefocusSearch read_defocus(const YamlSection& section);
std::vector<OrientationGrid> read_orientations(const YamlSection& section);
PreprocessingFilters read_filters(const YamlSection& section, std::vector<std::string>& notes);
ComputationalConfig read_computation(const YamlSection& section, std::vector<std::string>& notes);
ResultPaths read_results(const YamlSection& section);
PeakSection read_peaks(const YamlSection& section);

}  // namespace engine
