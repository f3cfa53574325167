#include "engine/cpu/fused/image_spectrum.h"

#include <algorithm>
#include <utility>

#include "engine/io/image.h"
#include "engine/numerics/fft.h"

namespace engine::cpu::fused {
namespace {

Image padded_image(const Problem& problem, size_t height, size_t width) {
  std::vector<std::complex<double>> spectrum(problem.image_spectrum.begin(),
                                             problem.image_spectrum.end());
  const std::vector<double> pixels = inverse_2d(std::move(spectrum), problem.height, problem.width);
  Image image(static_cast<int>(height), static_cast<int>(width));
  for (int row = 0; row < problem.height; ++row) {
    const double* from =
        pixels.data() + static_cast<size_t>(row) * static_cast<size_t>(problem.width);
    std::transform(from, from + problem.width, &image.at(row, 0),
                   [](double pixel) { return static_cast<float>(pixel); });
  }
  return image;
}

}  // namespace

ImageSpectrum::ImageSpectrum(const Problem& problem, size_t height, size_t width)
    : height_(height), width_(width), half_(width / 2 + 1), spectrum_(&problem.image_spectrum) {
  if (height == static_cast<size_t>(problem.height) &&
      width == static_cast<size_t>(problem.width)) {
    return;
  }
  const std::vector<std::complex<double>> spectrum =
      forward_2d(padded_image(problem, height, width));
  padded_.assign(spectrum.begin(), spectrum.end());
  spectrum_ = &padded_;
}

}  // namespace engine::cpu::fused
