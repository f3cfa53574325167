#include "engine/numerics/simulate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <sstream>

#include "engine/error.h"
#include "engine/numerics/ctf.h"
#include "engine/numerics/fft.h"
#include "engine/numerics/preprocess.h"
#include "engine/numerics/projection.h"
#include "engine/numerics/statistics.h"

namespace engine {
namespace {

// Noise power at |f| cycles/pixel, relative to its white part.
double noise_power(double frequency, double pixel_size) {
  const double x = 45.0 * frequency / pixel_size;
  return 1.0 + 30.0 * std::exp(-x * x);
}

Image coloured_noise(int height, int width, double pixel_size, std::mt19937_64& random) {
  std::normal_distribution<float> gaussian;
  Image white(height, width);
  for (float& pixel : white.pixels) pixel = gaussian(random);
  auto spectrum = forward_2d(white);
  size_t i = 0;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column <= width / 2; ++column, ++i) {
      spectrum[i] *= std::sqrt(noise_power(frequency(row, column, height, width), pixel_size));
    }
  }
  const std::vector<double> values = inverse_2d(std::move(spectrum), height, width);
  Image out(height, width);
  out.pixels.assign(values.begin(), values.end());
  return out;
}

// Particle at sub-pixel (dy, dx) off the centre of its box, CTF applied, in units of z.
std::vector<double> particle_box(const std::vector<std::complex<float>>& volume, int n,
                                 const OpticsGroup& optics, const PlantedParticle& p, double dy,
                                 double dx) {
  std::vector<std::complex<float>> slice(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1));
  extract_slice(volume.data(), n, rotation_matrix(p.phi, p.theta, p.psi), slice.data());
  const auto transfer = ctf(optics, p.defocus_offset, n);
  std::vector<std::complex<double>> spectrum(slice.size());
  double signal = 0;
  size_t i = 0;
  for (int row = 0; row < n; ++row) {
    const int ky = row < n / 2 ? row : row - n;
    for (int kx = 0; kx <= n / 2; ++kx, ++i) {
      // The volume's phases put the particle at the box's corner; half a box brings it to (n/2,
      // n/2).
      const double shift = -2.0 * std::numbers::pi * (ky * (dy + n / 2) + kx * (dx + n / 2)) / n;
      spectrum[i] = std::complex<double>(slice[i]) * transfer[i] * std::polar(1.0, shift);
      const double weight = kx == 0 || kx == n / 2 ? 1.0 : 2.0;
      signal += weight * std::norm(spectrum[i]) /
                noise_power(frequency(row, kx, n, n), optics.pixel_size);
    }
  }
  // Parseval: a matched filter in noise of this power has z^2 = sum |P|^2 / (S n^2).
  const double z = std::sqrt(signal) / n;
  if (!(z > 0 && std::isfinite(z))) {
    throw InputError("the template has nothing to plant: it is zero or holds NaN");
  }
  for (auto& value : spectrum) value *= p.z / z;
  return inverse_2d(std::move(spectrum), n, n);
}

void draw_orientation(const SimulationOptions& options, std::mt19937_64& random,
                      PlantedParticle& p) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  if (!options.orientations.empty()) {
    std::uniform_int_distribution<size_t> pick(0, options.orientations.size() - 1);
    const Orientation& o = options.orientations[pick(random)];
    p.phi = static_cast<double>(o.phi);
    p.theta = static_cast<double>(o.theta);
    p.psi = static_cast<double>(o.psi);
    return;
  }
  p.phi = 360.0 * unit(random);
  p.theta = std::acos(1.0 - 2.0 * unit(random)) * 180.0 / std::numbers::pi;
  p.psi = 360.0 * unit(random);
}

// Positions by rejection: simple, and enough for the crowding of real micrographs.
PlantedParticle draw_particle(int n, const SimulationOptions& options,
                              const std::vector<PlantedParticle>& others, std::mt19937_64& random) {
  constexpr int kTries = 10000;
  std::uniform_real_distribution<double> row(n / 2, options.height - n / 2 - 1);
  std::uniform_real_distribution<double> column(n / 2, options.width - n / 2 - 1);
  std::uniform_int_distribution<size_t> plane(0, options.defocus_offsets.size() - 1);
  for (int i = 0; i < kTries; ++i) {
    PlantedParticle p;
    p.y = row(random);
    p.x = column(random);
    const bool crowded = std::any_of(others.begin(), others.end(), [&](const auto& other) {
      return std::hypot(p.x - other.x, p.y - other.y) < n / 2.0;
    });
    if (crowded) continue;
    draw_orientation(options, random, p);
    p.defocus_offset = static_cast<double>(options.defocus_offsets[plane(random)]);
    p.z = options.z;
    return p;
  }
  throw InputError(std::to_string(options.particles) + " particles of " + std::to_string(n) +
                   " pixels do not fit into " + std::to_string(options.width) + " x " +
                   std::to_string(options.height) + "; ask for fewer or a larger micrograph");
}

// A box partly outside would be a particle that no search can find.
PlantedParticle given_particle(int n, const SimulationOptions& options, size_t index) {
  PlantedParticle p = options.planted[index];
  const double low = n / 2;
  const bool inside = p.x >= low && p.y >= low && p.x <= options.width - n / 2 - 1 &&
                      p.y <= options.height - n / 2 - 1;
  if (!inside) {
    throw InputError("particle " + std::to_string(index + 1) + " at (" + std::to_string(p.x) +
                     ", " + std::to_string(p.y) + "): its box of " + std::to_string(n) +
                     " pixels does not lie inside the micrograph");
  }
  if (p.z == 0) p.z = options.z;
  return p;
}

void add_box(const std::vector<double>& box, int n, int top, int left, Image& image) {
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      image.at(top + y, left + x) += static_cast<float>(
          box[static_cast<size_t>(y) * static_cast<size_t>(n) + static_cast<size_t>(x)]);
    }
  }
}

void scale_to_counts(const SimulationOptions& options, Image& image) {
  const auto [mean, sd] = moments(image.pixels);
  for (float& pixel : image.pixels) {
    pixel = static_cast<float>(options.mean + options.sd * (pixel - mean) / sd);
  }
}

}  // namespace

Simulation simulate(const Volume& volume, const OpticsGroup& optics,
                    const SimulationOptions& options) {
  const int n = volume.size;
  if (options.height % 2 != 0 || options.width % 2 != 0 || options.height <= n ||
      options.width <= n) {
    throw InputError("a simulated micrograph needs even sides larger than the template's " +
                     std::to_string(n) + " pixels, not " + std::to_string(options.width) + " x " +
                     std::to_string(options.height));
  }
  std::mt19937_64 random(options.seed);
  Simulation out;
  out.micrograph = coloured_noise(options.height, options.width, optics.pixel_size, random);
  const auto spectrum = volume_spectrum(volume);
  const bool given = !options.planted.empty();
  const size_t count = given ? options.planted.size() : static_cast<size_t>(options.particles);
  for (size_t i = 0; i < count; ++i) {
    const PlantedParticle p =
        given ? given_particle(n, options, i) : draw_particle(n, options, out.truth, random);
    const double top = std::floor(p.y) - n / 2;
    const double left = std::floor(p.x) - n / 2;
    add_box(particle_box(spectrum, n, optics, p, p.y - std::floor(p.y), p.x - std::floor(p.x)), n,
            static_cast<int>(top), static_cast<int>(left), out.micrograph);
    out.truth.push_back(p);
  }
  scale_to_counts(options, out.micrograph);
  return out;
}

std::string truth_csv(const std::vector<PlantedParticle>& truth) {
  std::ostringstream out;
  out << "id,x_px,y_px,phi_deg,theta_deg,psi_deg,defocus_offset_A,z_ideal\n";
  out.setf(std::ios::fixed);
  out.precision(4);
  for (size_t i = 0; i < truth.size(); ++i) {
    const PlantedParticle& p = truth[i];
    out << i << ',' << p.x << ',' << p.y << ',' << p.phi << ',' << p.theta << ',' << p.psi << ','
        << p.defocus_offset << ',' << p.z << '\n';
  }
  return out.str();
}

}  // namespace engine
