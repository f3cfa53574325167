// A configuration with its results in another place.
#pragma once

#include <string>

namespace engine {

// YAML text of the same search whose eight maps go into `folder`; `yaml_text` must be a valid
// configuration, whose own match_template_result is replaced.
std::string with_results_in(const std::string& folder, const std::string& yaml_text);

}  // namespace engine
