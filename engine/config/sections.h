// One reader for each section of the configuration, which checks types, ranges and unknown keys.
//
// A new key: its field in config.h, with unit and default; its line in the section's reader, or for
// a new section a reader here and its key in config_reader.cpp; what it changes in the numbers, in
// identify() of search/search.cpp, so that no checkpoint is resumed with another value; if it
// changes the speed, in scheduler/results/rate_key.cpp; init.cpp, docs/formats.md, config_test. The
// queue passes on keys that it does not know.
#pragma once

#include <string>
#include <vector>

#include "base/yaml_section.h"
#include "engine/config/config.h"

namespace engine {

using base::YamlSection;
using base::YamlValue;

// The readers add to `notes` a sentence for each value that has no effect, and throw
// base::YamlError.
OpticsGroup read_optics(const YamlSection& section, std::vector<std::string>& notes);
DefocusSearch read_defocus(const YamlSection& section);
std::vector<OrientationGrid> read_orientations(const YamlSection& section);
PreprocessingFilters read_filters(const YamlSection& section, std::vector<std::string>& notes);
ComputationalConfig read_computation(const YamlSection& section, std::vector<std::string>& notes);
ResultPaths read_results(const YamlSection& section);
PeakSection read_peaks(const YamlSection& section);
bool read_fourier_crop(const YamlSection& section);

}  // namespace engine
