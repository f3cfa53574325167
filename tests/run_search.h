// A whole search in this process, as the program does it, without writing anything. Paths of inputs
// in a configuration are relative to `folder`; without a `device` it is the CPU, with all cores.
#pragma once

#include <string>

#include "engine/config/config.h"
#include "engine/io/image.h"
#include "engine/numerics/maps.h"
#include "engine/search/device.h"

namespace tests {

engine::Maps search(const engine::SearchConfig& config, const std::string& folder,
                    const engine::DeviceOptions& device = {.backend = "cpu"});

// The same of another micrograph than the configuration's.
engine::Maps search_image(const engine::SearchConfig& config, const engine::Image& micrograph,
                          const std::string& folder,
                          const engine::DeviceOptions& device = {.backend = "cpu"});

// What leopard-em/NAME/config.yaml of `folder` describes.
engine::Maps search_reference_case(const std::string& name, const std::string& folder,
                                   const engine::DeviceOptions& device = {.backend = "cpu"});

}  // namespace tests
