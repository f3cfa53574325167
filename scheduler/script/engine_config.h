// The engine's configuration of one attempt: the template's search settings with this micrograph,
// its CTF and this attempt's folder put in. A pure function.
#pragma once

#include <stdexcept>
#include <string>

#include "db/records.h"

namespace scheduler {

// Says what is wrong with the search settings.
class SearchSettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct EngineInput {
  std::string search_yaml;  // of the template
  std::string template_path;
  std::string micrograph_path;
  // The engine searches no other files; empty: any.
  std::string template_sha256{};
  std::string micrograph_sha256{};
  db::Ctf ctf;
  std::string folder;  // the attempt's own
};

// YAML text. Throws SearchSettingsError.
std::string engine_config(const EngineInput& input);

// The optics of the settings; 0 for what they do not say, or where they cannot be read.
struct SettingsOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};
SettingsOptics optics_of_settings(const std::string& search_yaml);

// What can be known when a template is registered: that it is a mapping with the optics that do not
// come from a micrograph. Throws SearchSettingsError.
void check_search_settings(const std::string& search_yaml);

}  // namespace scheduler
