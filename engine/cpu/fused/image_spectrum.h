// The micrograph's spectrum at the size of the transforms.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

#include "engine/backend/backend.h"

namespace engine::cpu::fused {

class ImageSpectrum {
 public:
  // The image is padded with zeros at the ends of its rows and columns to height x width pixels.
  // `problem` must outlive this object.
  ImageSpectrum(const Problem& problem, size_t height, size_t width);
  // Returns the value at a frequency of the full plane, y in 0 .. height-1, x in 0 .. width-1.
  std::complex<float> at(size_t y, size_t x) const {
    if (x < half_) return (*spectrum_)[y * half_ + x];
    return std::conj((*spectrum_)[(height_ - y) % height_ * half_ + width_ - x]);
  }

 private:
  size_t height_, width_, half_;
  std::vector<std::complex<float>> padded_;  // empty where nothing is padded
  const std::vector<std::complex<float>>* spectrum_;
};

}  // namespace engine::cpu::fused
