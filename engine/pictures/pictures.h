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

using NamedFiles = std::vector<std::pair<std::string, std::string>>;  // name and path of each

// The pictures of a search: <beginning>micrograph_peaks.png, <beginning>scaled_mip.png and
// <beginning>z_histogram.png.
NamedFiles picture_paths(const std::string& beginning);

// Writes the pictures, each atomically, and returns picture_paths(beginning). Throws Error.
NamedFiles write_pictures(const std::string& beginning, const Image& micrograph, const Maps& maps,
                          const std::vector<Peak>& peaks, const PictureContext& context);

}  // namespace engine
