// The configuration's sections, one reader each: types, ranges, unknown keys.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/yaml_section.h"

namespace engine {

// `notes` gains a sentence for each value that has no effect.
OpticsGroup read_optics(const ConfigSection& section, std::vector<std::string>& notes);
DefocusSearch read_defocus(const ConfigSection& section);
std::vector<OrientationGrid> read_orientations(const ConfigSection& section);
PreprocessingFilters read_filters(const ConfigSection& section, std::vector<std::string>& notes);
ComputationalConfig read_computation(const ConfigSection& section, std::vector<std::string>& notes);
ResultPaths read_results(const ConfigSection& section);

}  // namespace engine
