// From Leopard-EM's YAML to a SearchConfig: types, ranges and unknown keys are checked here; what
// needs the files that it names is in input_checks.h.
#pragma once

#include <string>

#include "engine/config/config.h"

namespace engine {

// Reads the file at `path`. Throws InputError naming the file, the line and the key.
SearchConfig read_search_config(const std::string& path);
// The same from YAML text; `name` stands for the file in messages.
SearchConfig parse_search_config(const std::string& yaml_text, const std::string& name);

}  // namespace engine
