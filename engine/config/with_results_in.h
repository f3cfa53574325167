// A configuration again, with its results in another place.
#pragma once

#include <string>

namespace engine {

// The same search as in this YAML text; its eight maps go into `folder`, whatever it says of them.
std::string with_results_in(const std::string& folder, const std::string& yaml_text);

}  // namespace engine
