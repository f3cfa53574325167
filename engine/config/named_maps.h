// The eight maps of a search. A map's name is its key in the configuration without "_path".
#pragma once

#include <array>
#include <string>

#include "engine/config/config.h"

namespace engine {

struct NamedMap {
  const char* name;
  std::string ResultPaths::*path;
};
inline constexpr std::array<NamedMap, 8> kMaps = {{
    {"mip", &ResultPaths::mip},
    {"scaled_mip", &ResultPaths::scaled_mip},
    {"correlation_average", &ResultPaths::correlation_average},
    {"correlation_variance", &ResultPaths::correlation_variance},
    {"orientation_psi", &ResultPaths::orientation_psi},
    {"orientation_theta", &ResultPaths::orientation_theta},
    {"orientation_phi", &ResultPaths::orientation_phi},
    {"relative_defocus", &ResultPaths::relative_defocus},
}};

}  // namespace engine
