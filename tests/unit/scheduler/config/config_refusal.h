// What a configuration is refused with.
#pragma once

#include <string>

#include "scheduler/config/config_reader.h"

namespace scheduler {

// "not refused" where it is not.
inline std::string refusal(const std::string& yaml) {
  try {
    Config config = parse_config(yaml, "margayd.yaml");
    config.state = "/tmp/state";
    complete_config(config, "/opt/bin");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

}  // namespace scheduler
