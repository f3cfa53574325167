#include "engine/numerics/preprocess.h"

#include <cmath>

#include "engine/error.h"
#include "engine/numerics/ctf.h"
#include "engine/numerics/fft.h"

namespace engine {
namespace {

// Product of the enabled filters on a half-plane grid.
std::vector<double> combined_filter(int height, int width, const WhiteningCurve& whitening,
                                    const PreprocessingFilters& filters) {
  std::vector<double> out;
  out.reserve(static_cast<size_t>(height) * (static_cast<size_t>(width) / 2 + 1));
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column <= width / 2; ++column) {
      const double rho = frequency(row, column, height, width);
      const double white = whitening.frequencies.empty() ? 1.0 : whitening.at(rho);
      out.push_back(white * bandpass_at(rho, filters.bandpass) *
                    curve_at(rho, filters.arbitrary_curve));
    }
  }
  return out;
}

// Each interior column of the half-plane stands for two of the full plane.
double column_weight(int column, int width) { return column == 0 || column == width / 2 ? 1 : 2; }

void normalise(PreparedImage& image, const BandpassFilter& bandpass) {
  double power = 0;
  double passed = 0;
  size_t i = 0;
  for (int row = 0; row < image.height; ++row) {
    for (int column = 0; column <= image.width / 2; ++column, ++i) {
      const double weight = column_weight(column, image.width);
      power += weight * std::norm(image.spectrum[i]);
      passed += weight * bandpass_at(frequency(row, column, image.height, image.width), bandpass);
    }
  }
  if (!(power > 0)) {
    throw InputError(
        "preprocessing_filters: nothing of the micrograph is left after filtering; widen the "
        "bandpass or the curve");
  }
  const double scale = std::sqrt(passed / power);
  for (std::complex<double>& value : image.spectrum) value *= scale;
}

}  // namespace

PreparedImage prepare_image(const Image& micrograph, int template_size,
                            const PreprocessingFilters& filters) {
  PreparedImage out;
  out.height = micrograph.height;
  out.width = micrograph.width;
  out.spectrum = forward_2d(micrograph);
  out.spectrum[0] = 0;
  if (filters.whitening.enabled) {
    out.whitening = whitening_curve(out.spectrum, out.height, out.width, filters.whitening);
  }
  out.image_filter = combined_filter(out.height, out.width, out.whitening, filters);
  out.template_filter = combined_filter(template_size, template_size, out.whitening, filters);
  for (size_t i = 0; i < out.spectrum.size(); ++i) out.spectrum[i] *= out.image_filter[i];
  normalise(out, filters.bandpass);
  return out;
}

std::vector<std::complex<float>> volume_spectrum(const Volume& volume) {
  const int n = volume.size;
  const size_t columns = static_cast<size_t>(n) / 2 + 1;
  // A sign on every other sample shifts the frequency axis by half its length, and the reverse:
  // both shifts of the reference cost no copy.
  std::vector<float> signed_voxels = volume.voxels;
  size_t i = 0;
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x, ++i) {
        if ((z + y) % 2 != 0) signed_voxels[i] = -signed_voxels[i];
      }
    }
  }
  std::vector<std::complex<float>> out = forward_3d(signed_voxels, n);
  i = 0;
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y) {
      for (size_t x = 0; x < columns; ++x, ++i) {
        // Frequencies are z - n/2 and y - n/2, where n/2 cancels in the parity.
        if ((static_cast<size_t>(z) + static_cast<size_t>(y) + x) % 2 != 0) out[i] = -out[i];
      }
    }
  }
  return out;
}

std::vector<std::vector<std::complex<float>>> projective_filters(
    const OpticsGroup& optics, const std::vector<float>& planes, int template_size,
    const std::vector<double>& template_filter) {
  std::vector<std::vector<std::complex<float>>> out;
  for (const float plane : planes) {
    std::vector<std::complex<float>> filter;
    filter.reserve(template_filter.size());
    size_t i = 0;
    for (const std::complex<double>& value :
         ctf(optics, static_cast<double>(plane), template_size)) {
      filter.emplace_back(value * template_filter[i++]);
    }
    out.push_back(std::move(filter));
  }
  return out;
}

}  // namespace engine
