// The text of a search's configuration, for tests that change a part of it.
#pragma once

#include <string>

#include "engine/config/config_reader.h"
#include "tests/unit/engine/scratch.h"

namespace engine {

// A whole configuration whose sections a test replaces.
struct Yaml {
  std::string top = "micrograph_path: image.mrc\ntemplate_volume_path: template.mrc\n";
  std::string optics =
      "  label: some label\n  pixel_size: 1.06\n  voltage: 300.0\n  defocus_u: 5200.0\n"
      "  defocus_v: 4950.0\n  astigmatism_angle: 25.0\n";
  std::string defocus = "{}";
  std::string orientation = "{}";
  std::string filters = "{}";
  std::string results =
      "  mip_path: mip.mrc\n  scaled_mip_path: scaled.mrc\n  correlation_average_path: mean.mrc\n"
      "  correlation_variance_path: sd.mrc\n  orientation_psi_path: psi.mrc\n"
      "  orientation_theta_path: theta.mrc\n  orientation_phi_path: phi.mrc\n"
      "  relative_defocus_path: defocus.mrc\n";
  std::string computation = "{}";
  std::string peaks = "null";

  std::string text() const {
    return top + "optics_group:\n" + optics + "defocus_search_config: " + defocus +
           "\norientation_search_config: " + orientation + "\npreprocessing_filters: " + filters +
           "\nmatch_template_result:\n" + results + "computational_config: " + computation +
           "\npeaks: " + peaks + "\n";
  }
  SearchConfig parse() const { return parse_search_config(text(), "search.yaml"); }
  std::string refusal() const {
    return engine::refusal([&] { parse(); });
  }
};

inline Yaml with_optics(const std::string& more) {
  Yaml yaml;
  yaml.optics += "  " + more + "\n";
  return yaml;
}
inline Yaml with_defocus(const std::string& text) {
  Yaml yaml;
  yaml.defocus = text;
  return yaml;
}
inline Yaml with_orientation(const std::string& text) {
  Yaml yaml;
  yaml.orientation = text;
  return yaml;
}
inline Yaml with_filters(const std::string& text) {
  Yaml yaml;
  yaml.filters = text;
  return yaml;
}
inline Yaml with_results(const std::string& more) {
  Yaml yaml;
  yaml.results += "  " + more + "\n";
  return yaml;
}
inline Yaml with_computation(const std::string& text) {
  Yaml yaml;
  yaml.computation = text;
  return yaml;
}
inline Yaml with_top(const std::string& more) {
  Yaml yaml;
  yaml.top += more + "\n";
  return yaml;
}

}  // namespace engine
