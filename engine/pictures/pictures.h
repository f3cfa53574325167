// Writes the PNG pictures of a search for people.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/io/image.h"
#include "engine/numerics/maps.h"
#include "engine/numerics/peaks.h"
#include "engine/pictures/picture_context.h"

namespace engine {

// Writes micrograph_peaks.png, scaled_mip.png and z_histogram.png into `directory`, each
// atomically, and returns the name and path of each. Throws Error.
std::vector<std::pair<std::string, std::string>> write_pictures(const std::string& directory,
                                                                const Image& micrograph,
                                                                const Maps& maps,
                                                                const std::vector<Peak>& peaks,
                                                                const PictureContext& context);

}  // namespace engine
