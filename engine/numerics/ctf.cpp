#include "engine/numerics/ctf.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace engine {
namespace {

// Keeps the direction finite at zero frequency; the reference's value.
constexpr double kDirectionEpsilon = 1.1920929e-7;

double coefficient(const std::map<std::string, double>& zernikes, const char* name) {
  const auto found = zernikes.find(name);
  return found == zernikes.end() ? 0.0 : found->second;
}

struct Grid {
  const OpticsGroup& optics;
  int n;
  FrequencyTransform transform;

  double signed_row(int row) const { return static_cast<double>(row < n / 2 ? row : row - n) / n; }
  // (y, x) in cycles/pixel after the magnification.
  std::pair<double, double> at(int row, int column) const {
    const double y = signed_row(row);
    const double x = static_cast<double>(column) / n;
    return {transform.yy * y + transform.yx * x, transform.xy * y + transform.xx * x};
  }
  double largest() const {
    double rho = 0;
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column <= n / 2; ++column) {
        const auto [y, x] = at(row, column);
        rho = std::max(rho, std::hypot(y, x));
      }
    }
    return rho;
  }
};

// chi without Zernikes; (ky, kx) in 1/A.
double phase(const OpticsGroup& o, double relative_defocus, double ky, double kx) {
  const double lambda = electron_wavelength(o.voltage);
  const double k2 = ky * ky + kx * kx;
  const double unit = 1.0 / std::sqrt(k2 + kDirectionEpsilon);
  const double angle = o.astigmatism_angle * std::numbers::pi / 180.0;
  const double mean = (o.defocus_u + o.defocus_v) / 2.0 + relative_defocus;
  const double astigmatism = std::abs(o.defocus_u - o.defocus_v) / 2.0;
  const double along = ky * unit * std::sin(angle) + kx * unit * std::cos(angle);
  const double defocus = mean - astigmatism + 2.0 * astigmatism * along * along;
  const double cs = o.spherical_aberration * 1e7;
  const double w = o.amplitude_contrast_ratio;
  return -std::numbers::pi * lambda * defocus * k2 +
         std::numbers::pi / 2.0 * cs * lambda * lambda * lambda * k2 * k2 -
         o.phase_shift * std::numbers::pi / 180.0 - std::atan2(w, std::sqrt(1.0 - w * w));
}

double even_phase(const OpticsGroup& o, double rho, double theta) {
  const double rho4 = rho * rho * rho * rho;
  return coefficient(o.even_zernikes, "Z44c") * rho4 * std::cos(4 * theta) +
         coefficient(o.even_zernikes, "Z44s") * rho4 * std::sin(4 * theta) +
         coefficient(o.even_zernikes, "Z60") * rho4 * rho * rho;
}

double odd_phase(const OpticsGroup& o, double rho, double theta) {
  const double rho3 = rho * rho * rho;
  return rho3 * (coefficient(o.odd_zernikes, "Z31c") * std::cos(theta) +
                 coefficient(o.odd_zernikes, "Z31s") * std::sin(theta) +
                 coefficient(o.odd_zernikes, "Z33c") * std::cos(3 * theta) +
                 coefficient(o.odd_zernikes, "Z33s") * std::sin(3 * theta));
}

}  // namespace

double electron_wavelength(double voltage) {
  // h c / sqrt(eV (2 m0 c^2 + eV)), in eV and A (CODATA 2018).
  constexpr double kHc = 12398.419843320026;
  constexpr double kRestEnergy = 510998.95;
  const double energy = voltage * 1e3;
  return kHc / std::sqrt(energy * (2.0 * kRestEnergy + energy));
}

FrequencyTransform frequency_transform(const OpticsGroup& optics) {
  FrequencyTransform t;
  if (!optics.mag_matrix) return t;
  const std::vector<double>& m = *optics.mag_matrix;
  t.determinant = m[0] * m[3] - m[1] * m[2];
  t.yy = m[3] / t.determinant;
  t.yx = -m[2] / t.determinant;
  t.xy = -m[1] / t.determinant;
  t.xx = m[0] / t.determinant;
  return t;
}

std::vector<std::complex<double>> ctf(const OpticsGroup& optics, double relative_defocus, int n) {
  const Grid grid{optics, n, frequency_transform(optics)};
  const bool zernikes = !optics.even_zernikes.empty() || !optics.odd_zernikes.empty();
  const double corner = zernikes ? grid.largest() : 1.0;
  std::vector<std::complex<double>> out;
  out.reserve(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1));
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column <= n / 2; ++column) {
      const auto [y, x] = grid.at(row, column);
      const double px = optics.pixel_size;
      double chi = phase(optics, relative_defocus, y / px, x / px);
      const double rho = std::hypot(y, x) / corner;
      const double theta = std::atan2(y, x);
      if (zernikes) chi += even_phase(optics, rho, theta);
      // The envelope is isotropic, on the untransformed frequency.
      const double ky = grid.signed_row(row) / px;
      const double kx = static_cast<double>(column) / n / px;
      const double envelope = std::exp(-optics.ctf_b_factor * (ky * ky + kx * kx) / 4.0);
      const double value = -std::sin(chi) * envelope;
      out.push_back(optics.odd_zernikes.empty()
                        ? std::complex<double>(value, 0.0)
                        : std::polar(1.0, odd_phase(optics, rho, theta)) * value);
    }
  }
  return out;
}

}  // namespace engine
