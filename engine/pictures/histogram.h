#pragma once

#include <string>
#include <vector>

#include "engine/pictures/pictures.h"

namespace engine {

// PNG: how many pixels of the metric's map have which z, against what noise would give.
std::string histogram_picture(const Maps& maps, const std::vector<Peak>& peaks,
                              const PictureContext& context);

}  // namespace engine
