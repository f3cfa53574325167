// A whole MRC file of one small image, for tests that look at no pixel.
#pragma once

#include <string>

#include "base/mrc_bytes.h"

namespace tests {

struct SmallMrc {
  int width = 16;
  int height = 16;
  int sections = 1;
  double pixel_size = 0;  // A; 0: the header has none
};

// Mode 0. `content` is in the header's label, so that files of different names differ.
inline std::string small_mrc(const std::string& content = "", const SmallMrc& image = {}) {
  using namespace base::mrc_bytes;
  HeaderBytes header{};
  put<int32_t>(header, kNx, image.width);
  put<int32_t>(header, kNy, image.height);
  put<int32_t>(header, kNz, image.sections);
  for (size_t axis = 0; axis < 3; ++axis) {
    put<int32_t>(header, kMx + 4 * axis, 1);
    put(header, kCellA + 4 * axis, static_cast<float>(image.pixel_size));
    put(header, kMapC + 4 * axis, static_cast<int32_t>(axis + 1));
  }
  put<int32_t>(header, kLabelCount, 1);
  for (size_t i = 0; i < content.size() && i < kLabelSize; ++i) {
    put(header, kLabels + i, content[i]);
  }
  for (size_t i = 0; i < 4; ++i) put(header, kMapStamp + i, "MAP "[i]);
  put<unsigned char>(header, kMachineStamp, 0x44);
  put<unsigned char>(header, kMachineStamp + 1, 0x44);
  const auto pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height) *
                      static_cast<size_t>(image.sections);
  return std::string(header.begin(), header.end()) + std::string(pixels, '\1');
}

}  // namespace tests
