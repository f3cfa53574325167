// Moves a configuration's results to another folder.
#pragma once

#include <string>

namespace engine {

// Returns `yaml_text`, which must be a valid configuration, with match_template_result replaced so
// that the eight maps go into `folder`.
std::string with_results_in(const std::string& folder, const std::string& yaml_text);

}  // namespace engine
