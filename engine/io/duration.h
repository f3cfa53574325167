// Parses lengths of time in options.
#pragma once

#include <chrono>
#include <string>

#include "base/duration.h"
#include "engine/error.h"

namespace engine {

// Parses 500ms, 90s, 10m, 1.5h (base/duration.h). Throws UsageError naming `option`.
inline std::chrono::milliseconds parse_duration(const std::string& text,
                                                const std::string& option) {
  const auto duration = base::parse_duration(text);
  if (!duration) throw UsageError(option + ": " + base::invalid_duration(text));
  return *duration;
}

}  // namespace engine
