// The engine's configuration of one attempt: the template's search settings plus this micrograph,
// its CTF and this attempt's folder. A pure function.
#pragma once

#include <stdexcept>
#include <string>

#include "db/records.h"

namespace scheduler {

// The message says what is wrong with the search settings.
class SearchSettingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct EngineInput {
  std::string search_yaml;  // the template's
  std::string template_path;
  std::string micrograph_path;
  // The engine refuses files with other hashes; empty: any file is accepted.
  std::string template_sha256{};
  std::string micrograph_sha256{};
  db::Ctf ctf;
  std::string folder;  // the attempt's own
};

// The configuration as YAML text. Throws SearchSettingsError.
std::string engine_config(const EngineInput& input);

// The optics in the settings; 0: not given, or the settings cannot be read.
struct SettingsOptics {
  double pixel_size = 0;            // A
  double voltage = 0;               // kV
  double spherical_aberration = 0;  // mm
};
SettingsOptics optics_of_settings(const std::string& search_yaml);

// Checks what can be checked when a template is registered: the settings are a mapping and have the
// optics that do not come from a micrograph. Throws SearchSettingsError.
void check_search_settings(const std::string& search_yaml);

}  // namespace scheduler
