// The eight maps of a search. A map's name is its key in the configuration without "_path".
//
// A new map: here and in ResultPaths; its image in numerics/maps.h, made by finalise() and
// resampled by search_grid.cpp; its place in images_of() of results.cpp; the number of maps where
// memory and disk are counted (cpu_memory.cpp, cpu/fused/plan.cpp, search/device.cpp, and
// scheduler/files/disk_space.cpp); the queue's own list in scheduler/script/engine_config.cpp;
// init.cpp, docs/formats.md, and the tests' configurations. Leopard-EM's files do not name it, so
// its key must be optional, and manifests of older searches do not have it.
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
