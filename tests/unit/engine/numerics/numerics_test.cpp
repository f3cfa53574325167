// Numbers of the reference's float64 model: CTF values and one search step from image to
// correlation. What is computed in double is held to 1e-6, the rest to 2e-4.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/projector.h"
#include "engine/numerics/ctf.h"
#include "engine/numerics/fft_plan.h"
#include "engine/numerics/preprocess.h"
#include "engine/numerics/projection.h"
#include "engine/numerics/statistics.h"
#include "tests/unit/engine/projection_reference.h"

namespace engine {
namespace {

OpticsGroup optics(double pixel_size, double b_factor) {
  OpticsGroup o;
  o.pixel_size = pixel_size;
  o.voltage = 300;
  o.spherical_aberration = 2.7;
  o.amplitude_contrast_ratio = 0.07;
  o.defocus_u = 5200;
  o.defocus_v = 4950;
  o.astigmatism_angle = 25;
  o.ctf_b_factor = b_factor;
  return o;
}

TEST(Ctf, HasTheReferencesValues) {
  const int n = 512;
  const auto values = ctf(optics(1.06, 60), 0, n);
  const auto at = [&](int row, int column) {
    return values[static_cast<size_t>(row) * 257 + static_cast<size_t>(column)].real();
  };
  EXPECT_NEAR(at(0, 0), 0.0700000, 1e-6);
  EXPECT_NEAR(at(0, 64), -0.7821424, 1e-6);
  EXPECT_NEAR(at(64, 0), -0.7447666, 1e-6);
  EXPECT_NEAR(at(64, 64), 0.4296613, 1e-6);
  EXPECT_NEAR(at(448, 64), 0.5681614, 1e-6);
  EXPECT_NEAR(at(0, 128), -0.3863568, 1e-6);
  EXPECT_NEAR(at(100, 37), -0.4246222, 1e-6);
  EXPECT_NEAR(ctf(optics(1.06, 60), -400, n)[100 * 257 + 37].real(), -0.5438985, 1e-6);
}

TEST(Ctf, WavelengthsAreThoseOfTheField) {
  EXPECT_NEAR(electron_wavelength(300), 0.0196875, 5e-8);
  EXPECT_NEAR(electron_wavelength(200), 0.0250793, 5e-8);
}

TEST(Ctf, TakesTheAbsoluteAstigmatism) {
  OpticsGroup swapped = optics(1.06, 0);
  std::swap(swapped.defocus_u, swapped.defocus_v);
  EXPECT_EQ(ctf(swapped, 0, 32), ctf(optics(1.06, 0), 0, 32));
}

Image test_image() {
  Image image(48, 64);
  for (int y = 0; y < 48; ++y) {
    for (int x = 0; x < 64; ++x) {
      const double noise = static_cast<double>((7919LL * x + 104729LL * y) % 1009) / 1009.0;
      image.at(y, x) = static_cast<float>(std::sin(0.37 * x + 0.11 * y) +
                                          0.5 * std::cos(0.83 * y - 0.29 * x * x / 40.0) + noise);
    }
  }
  return image;
}

Volume test_volume() {
  Volume volume{16, {}};
  const auto square = [](double v) { return v * v; };
  for (int z = 0; z < 16; ++z) {
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < 16; ++x) {
        volume.voxels.push_back(static_cast<float>(
            std::exp(-(square(z - 8) / 6 + square(y - 7) / 10 + square(x - 9.5) / 4)) +
            0.6 * std::exp(-(square(z - 5) + square(y - 10) + square(x - 6)) / 3)));
      }
    }
  }
  return volume;
}

void expect_near(std::complex<float> got, double re, double im) {
  EXPECT_NEAR(got.real(), re, 2e-4);
  EXPECT_NEAR(got.imag(), im, 2e-4);
}

double squares_of(const std::vector<float>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

class EndToEnd : public testing::Test {
 protected:
  static constexpr int kN = 16;
  PreparedImage image_ = prepare_image(test_image(), kN, PreprocessingFilters{});
  std::vector<std::complex<float>> volume_ = volume_spectrum(test_volume());
  OpticsGroup optics_ = optics(2, 0);

  std::vector<std::complex<float>> slice() const {
    std::vector<std::complex<float>> out(kN * (kN / 2 + 1));
    extract_slice(volume_.data(), kN, rotation_matrix(30, 40, 50), out.data());
    return out;
  }

  std::vector<float> projection() const {
    const auto filters = projective_filters(optics_, {0.0f}, kN, image_.template_filter);
    const auto s = slice();
    cpu::AlignedArray<cpu::Complex> half(s.size());
    for (size_t i = 0; i < s.size(); ++i) half[i] = s[i] * filters[0][i];
    cpu::AlignedArray<float> back(kN * kN);
    cpu::ProjectionPlan(kN).execute(half.data(), back.data());
    std::vector<float> out(kN * kN);
    centre_projection(back.data(), kN, out.data());
    for (float& value : out) value /= kN * kN;
    return out;
  }
};

TEST_F(EndToEnd, WhiteningCurveIsTheReferences) {
  const double want[] = {10.935793, 82.759652, 113.182228, 344.624856};
  ASSERT_EQ(image_.whitening.power.size(), 36u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(image_.whitening.power[i] / want[i], 1.0, 1e-6) << i;
  }
}

TEST_F(EndToEnd, FiltersAreTheReferences) {
  const auto image = [&](size_t row, size_t column) {
    return image_.image_filter[row * 33 + column];
  };
  EXPECT_NEAR(image(0, 0) / 0.69536270, 1.0, 1e-6);
  EXPECT_NEAR(image(0, 5) / 0.03765689, 1.0, 1e-6);
  EXPECT_NEAR(image(7, 3) / 0.10397751, 1.0, 1e-6);
  EXPECT_NEAR(image(24, 32), 1.0, 1e-6);
  const auto templ = [&](size_t row, size_t column) {
    return image_.template_filter[row * 9 + column];
  };
  EXPECT_NEAR(templ(0, 0) / 0.69536270, 1.0, 1e-6);
  EXPECT_NEAR(templ(0, 1) / 0.02374866, 1.0, 1e-6);
  EXPECT_NEAR(templ(3, 2) / 0.33384603, 1.0, 1e-6);
  EXPECT_NEAR(templ(8, 8), 1.0, 1e-6);
}

TEST_F(EndToEnd, PreparedImageIsTheReferences) {
  const auto at = [&](size_t row, size_t column) {
    return std::complex<float>(image_.spectrum[row * 33 + column]);
  };
  expect_near(at(0, 1), -0.5572705, -0.1741531);
  expect_near(at(5, 7), -0.2215448, -0.0395388);
  expect_near(at(47, 32), 0.7252400, 1.7039878);
}

TEST_F(EndToEnd, VolumeAndSliceAreTheReferences) {
  const auto v = [&](size_t z, size_t y, size_t x) { return volume_[(z * 16 + y) * 9 + x]; };
  expect_near(v(8, 8, 0), 103.5867530, 0);
  expect_near(v(9, 8, 1), 43.4888215, -19.8536614);
  const auto s = slice();
  // Values are given with rows shifted (zero frequency at row 8) and before the sign flip.
  const auto at = [&](size_t shifted_row, size_t column) {
    return -s[(shifted_row + 8) % 16 * 9 + column];
  };
  expect_near(at(8, 1), 57.2077259, 6.5394697);
  expect_near(at(10, 3), -2.8985265, 3.0907448);
  expect_near(at(2, 7), 0.00096929, 0.00006739);
  expect_near(at(12, 0), -1.3298418, 1.3209773);
}

TEST_F(EndToEnd, ProjectionIsTheReferences) {
  std::vector<float> p = projection();
  EXPECT_NEAR(p[8 * 16 + 8], -0.11539502, 2e-4);
  EXPECT_NEAR(p[0], -0.01504340, 2e-4);
  const Normalisation own = normalisations_of(p.data(), squares_of(p), kN, 48, 64).own;
  EXPECT_NEAR((p[8 * 16 + 8] - own.edge) * own.factor, -8.4697899, 2e-4);
  EXPECT_NEAR((p[0] - own.edge) * own.factor, -0.5378285, 2e-4);
}

TEST_F(EndToEnd, AProjectionAndItsMirrorAreNormalisedByTheirOwnBorders) {
  const std::vector<float> p = projection();
  const Normalisations found = normalisations_of(p.data(), squares_of(p), kN, 48, 64, 0.25);
  const auto expect_normalised = [](const std::vector<float>& pixels, const Normalisation& by) {
    const std::vector<float> wanted = normalised_projection(pixels, kN, 48, 64, 0.25);
    for (size_t i = 0; i < pixels.size(); ++i) {
      ASSERT_NEAR((pixels[i] - by.edge) * by.factor, wanted[i], 1e-6) << i;
    }
  };
  expect_normalised(p, found.own);
  expect_normalised(mirrored_projection(p, kN), found.mirrored);
  EXPECT_GT(std::abs(found.own.edge - found.mirrored.edge), 1e-4 * std::abs(found.own.edge));
}

TEST(Projection, OneThatIsEmptyStaysEmpty) {
  const std::vector<float> none(8 * 8, 0.0f);
  const Normalisations found = normalisations_of(none.data(), 0, 8, 48, 64);
  for (const Normalisation& n : {found.own, found.mirrored}) {
    EXPECT_EQ((0 - n.edge) * n.factor, 0);
    EXPECT_TRUE(std::isfinite(n.factor));
  }
}

TEST_F(EndToEnd, CorrelationIsTheReferences) {
  Problem problem;
  problem.height = 48;
  problem.width = 64;
  problem.template_size = kN;
  for (const auto& value : image_.spectrum) problem.image_spectrum.emplace_back(value);
  problem.volume_spectrum = volume_;
  problem.filters = projective_filters(optics_, {0.0f}, kN, image_.template_filter);
  problem.orientations = {{30, 40, 50}};
  const auto backend =
      cpu::make_cpu_backend(problem, cpu::plan_memory({48, 64, kN, 1}, {.threads = 1, .batch = 1}));
  const Unit unit{0, -1};
  backend->correlate({&unit, 1});
  const Accumulators a = backend->accumulators();
  ASSERT_EQ(a.height, 33);
  ASSERT_EQ(a.width, 49);
  const auto at = [&](size_t row, size_t column) { return best_value(a.best[row * 49 + column]); };
  EXPECT_NEAR(at(0, 0), -0.0231656, 2e-4);
  EXPECT_NEAR(at(10, 20), 1.0588620, 2e-4);
  EXPECT_NEAR(at(32, 48), 1.1299481, 2e-4);
  const Moments m = moments(a.sum[10 * 49 + 20], a.squares[10 * 49 + 20], 1);
  EXPECT_NEAR(m.mean, at(10, 20), 1e-6);
}

// The sums of many correlations with a normal distribution, rounded as the backends round them.
Moments moments_of_noise(double sd) {
  constexpr int kCount = 200'000;
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0.0, sd);
  int64_t sum = 0;
  int64_t squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = noise(random);
    sum += std::llrint(std::ldexp(value, kSumBits));
    squares += std::llrint(std::ldexp(value * value, kSquareBits));
  }
  return moments(sum, squares, kCount);
}

TEST(Moments, TellNoZScoreWhereTheirStepsSpoilTheDeviation) {
  for (const double sd : {1.0, 0.1, 0.02, 0.01}) {
    const Moments m = moments_of_noise(sd);
    EXPECT_NEAR(m.sd / sd, 1.0, 0.006) << sd;
    EXPECT_NEAR(z_score(5 * sd, m), 5.0, 0.03) << sd;
  }
  // Where it would be far too large.
  for (const double sd : {0.005, 0.002, 0.0005, 0.0}) {
    EXPECT_EQ(z_score(5 * sd, moments_of_noise(sd)), 0.0) << sd;
  }
}

TEST(Projection, SlicesOfEveryPairOfUnitsAreFriedelMates) {
  const int n = 16;
  const auto volume = volume_spectrum(test_volume());
  const OrientationList list =
      make_orientations({OrientationGrid{.psi_step = 30, .theta_step = 30}});
  const auto slice = [&](int64_t index) {
    const Orientation& o = list.orientations[static_cast<size_t>(index)];
    std::vector<std::complex<float>> s(n * (n / 2 + 1));
    extract_slice(volume.data(), n, rotation_matrix(o.phi, o.theta, o.psi), s.data());
    return s;
  };
  int pairs = 0;
  for (const Unit& unit : make_units(list, true)) {
    if (unit.second < 0) continue;
    ++pairs;
    const auto first = slice(unit.first);
    const auto second = slice(unit.second);
    for (size_t i = 0; i < first.size(); ++i) {
      ASSERT_LT(std::abs(second[i] - std::conj(first[i])), 1e-3)
          << "orientation " << unit.first << ", sample " << i;
    }
  }
  EXPECT_GT(pairs, 100);
}

TEST(Projection, OfPsiPlus180IsTheMirroredOne) {
  const int n = 16;
  const auto volume = volume_spectrum(test_volume());
  const auto project = [&](double psi) {
    std::vector<std::complex<float>> s(n * (n / 2 + 1));
    extract_slice(volume.data(), n, rotation_matrix(31, 47, psi), s.data());
    cpu::AlignedArray<cpu::Complex> half(s.size());
    std::copy(s.begin(), s.end(), half.data());
    cpu::AlignedArray<float> back(n * n);
    cpu::ProjectionPlan(n).execute(half.data(), back.data());
    std::vector<float> p(n * n);
    centre_projection(back.data(), n, p.data());
    return p;
  };
  const std::vector<float> direct = project(180 + 22);
  const std::vector<float> mirrored = mirrored_projection(project(22), n);
  for (size_t i = 0; i < direct.size(); ++i) EXPECT_NEAR(direct[i], mirrored[i], 2e-3) << i;
}

TEST(Projection, RowsAreMirroredAndNormalisedAsTheyAreWritten) {
  for (const int n : {2, 4, 16, 22}) {
    const auto size = static_cast<size_t>(n);
    std::vector<float> p(size * size);
    std::iota(p.begin(), p.end(), 1.0f);
    for (const bool mirrored : {false, true}) {
      std::vector<float> wanted = mirrored ? mirrored_projection(p, n) : p;
      for (float& pixel : wanted) pixel = (pixel - 3) * 0.5f;
      std::vector<float> rows(p.size());
      for (int row = 0; row < n; ++row) {
        cpu::write_normalised_row({p.data(), mirrored, {3, 0.5}}, n, row,
                                  rows.data() + static_cast<size_t>(row) * size);
      }
      EXPECT_EQ(rows, wanted) << n << (mirrored ? ", mirrored" : "");
      std::vector<float> zeros(size, 1.0f);
      cpu::write_normalised_row({}, n, 0, zeros.data());
      EXPECT_EQ(zeros, std::vector<float>(size)) << "a projection that is not there";
    }
  }
}

}  // namespace
}  // namespace engine
