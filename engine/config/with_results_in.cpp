#include "engine/config/with_results_in.h"

#include <yaml-cpp/yaml.h>

namespace engine {

std::string with_results_in(const std::string& folder, const std::string& yaml_text) {
  YAML::Node results;
  for (const std::string map :
       {"mip", "scaled_mip", "correlation_average", "correlation_variance", "orientation_psi",
        "orientation_theta", "orientation_phi", "relative_defocus"}) {
    results[map + "_path"] = folder + "/" + map + ".mrc";
  }
  YAML::Node config = YAML::Load(yaml_text);
  config["match_template_result"] = results;
  YAML::Emitter text;
  text << config;
  return std::string(text.c_str()) + "\n";
}

}  // namespace engine
