#include "engine/config/with_results_in.h"

#include <yaml-cpp/yaml.h>

#include "base/yaml_load.h"
#include "engine/config/named_maps.h"

namespace engine {

std::string with_results_in(const std::string& folder, const std::string& yaml_text) {
  YAML::Node results;
  for (const NamedMap& map : kMaps) {
    results[std::string(map.name) + "_path"] = folder + "/" + map.name + ".mrc";
  }
  YAML::Node config = base::load_yaml(yaml_text, "the configuration");
  config["match_template_result"] = results;
  YAML::Emitter text;
  text << config;
  return std::string(text.c_str()) + "\n";
}

}  // namespace engine
