// Reads Leopard-EM's YAML into a SearchConfig, and checks types, ranges and unknown keys; checks
// that need the named files are in input_checks.h.
#pragma once

#include <string>

#include "engine/config/config.h"

namespace engine {

// Reads the file at `path`. A `micrograph` replaces the file's micrograph_path, which may then be
// missing. Throws InputError naming the file, the line and the key.
SearchConfig read_search_config(const std::string& path, const std::string& micrograph = "");
// Does the same for YAML text; `name` stands for the file in messages.
SearchConfig parse_search_config(const std::string& yaml_text, const std::string& name,
                                 const std::string& micrograph = "");

}  // namespace engine
