// Every kernel of the path with library transforms, against the CPU's functions.
#pragma once

#include <cmath>

#include "engine/cuda/map_statistics.h"
#include "engine/cuda/product.cuh"
#include "engine/cuda/projector.h"
#include "engine/cuda/statistics.cuh"
#include "engine/cuda/template_rows.cuh"
#include "engine/error.h"
#include "engine/numerics/fft_plan.h"
#include "engine/numerics/preprocess.h"
#include "engine/numerics/projection.h"
#include "engine/numerics/statistics.h"
#include "tests/unit/engine/cuda/cases.h"
#include "tests/unit/engine/projection_reference.h"

namespace tests {

namespace cuda = engine::cuda;

template <typename Maker>
class CudaKernels : public OnDevice<Maker> {
 protected:
  template <typename T>
  using Buffer = typename OnDevice<Maker>::template Buffer<T>;

  static std::vector<int> sizes() {
    return Maker::large_cases() ? std::vector<int>{16, 22, 64, 192} : std::vector<int>{16, 22};
  }
  static size_t half_plane(int n) {
    return static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1);
  }
  static dim3 grid_for(int64_t count, unsigned y, unsigned z = 1) {
    return dim3(cuda::blocks_for(count), y, z);
  }
  static dim3 block_for(int64_t count) { return dim3(cuda::threads_for(count)); }
  static std::vector<Complex> spectrum(int n) {
    const auto size = static_cast<size_t>(n);
    return engine::volume_spectrum({n, random_floats(size * size * size, 3)});
  }
};

TYPED_TEST_SUITE_P(CudaKernels);

// Angles at which slices lie in planes of the volume are among them.
inline std::vector<engine::Orientation> awkward_orientations() {
  return {{0, 0, 0},    {0, 90, 0},      {180, 90, 0},       {0, 90, 90},      {90, 90, 45},
          {45, 90, 30}, {12.5f, 33, 71}, {211, 117.5f, 305}, {300, 60, 359.5f}};
}

TYPED_TEST_P(CudaKernels, SlicesAreThoseOfTheCpu) {
  for (const int n : this->sizes()) {
    const std::vector<Complex> volume = this->spectrum(n);
    const std::vector<engine::Orientation> orientations = awkward_orientations();
    std::vector<engine::Unit> units;
    for (size_t i = 0; i < orientations.size(); ++i) units.push_back({static_cast<int64_t>(i), -1});
    const auto on_device = this->put(volume);
    const auto rotations = this->put(cuda::slice_rotations(units, orientations));
    const size_t size = this->half_plane(n);
    auto slices = this->template space<float2>(units.size() * size);
    for (const bool keep_zero : {false, true}) {
      const auto count = static_cast<int64_t>(size);
      this->device_->launch("extract_slices", cuda::extract_slices,
                            this->grid_for(count, static_cast<unsigned>(units.size())),
                            this->block_for(count), 0, on_device.data(), n, rotations.data(),
                            keep_zero, slices.data());
      std::vector<Complex> expected(units.size() * size);
      for (size_t i = 0; i < units.size(); ++i) {
        const engine::Orientation& o = orientations[i];
        engine::extract_slice(volume.data(), n, engine::rotation_matrix(o.phi, o.theta, o.psi),
                              expected.data() + i * size, keep_zero);
      }
      EXPECT_LT(difference(this->get(slices), expected), 1e-5) << n << ' ' << keep_zero;
    }
  }
}

TYPED_TEST_P(CudaKernels, MagnifiedSlicesAreThoseOfTheCpu) {
  const engine::FrequencyTransform t{1.02, 0.015, -0.01, 0.97, 1.013};
  const cuda::Magnification magnification{t.yy, t.yx, t.xy, t.xx,
                                          static_cast<float>(1 / t.determinant)};
  for (const int n : this->sizes()) {
    const size_t size = this->half_plane(n);
    std::vector<Complex> expected = random_complex(2 * size, 5);
    const auto in = this->put(expected);
    auto out = this->template space<float2>(2 * size);
    const auto count = static_cast<int64_t>(size);
    this->device_->launch("magnify_slices", cuda::magnify_slices, this->grid_for(count, 2),
                          this->block_for(count), 0, in.data(), n, magnification, out.data());
    std::vector<Complex> scratch;
    engine::magnify_slice(t, n, expected.data(), scratch);
    engine::magnify_slice(t, n, expected.data() + size, scratch);
    EXPECT_LT(difference(this->get(out), expected), 1e-5) << n;
  }
}

// Spectra that are no real image's, too: complex filters and half-frequency rows make them.
TYPED_TEST_P(CudaKernels, FilteredSlicesHaveTheBackTransformsOfTheCpu) {
  constexpr int kPlanes = 3;
  constexpr int kUnits = 2;
  constexpr int kSlots = 8;
  for (const int n : this->sizes()) {
    const size_t size = this->half_plane(n);
    const size_t image = static_cast<size_t>(n) * static_cast<size_t>(n);
    const std::vector<Complex> slices = random_complex(kUnits * size, 6);
    const std::vector<Complex> filters = random_complex(kPlanes * size, 7);
    const auto slices_there = this->put(slices);
    const auto filters_there = this->put(filters);
    auto half_planes = this->template space<float2>(kSlots * size);
    auto images = this->template space<float>(kSlots * image);
    typename TypeParam::Device::PlanePlan plan(*this->device_, cuda::Planes{n, kSlots});
    this->device_->allocate_workspace();
    const auto count = static_cast<int64_t>(size);
    this->device_->launch("filter_slices", cuda::filter_slices, this->grid_for(count, kSlots),
                          this->block_for(count), 0, slices_there.data(), filters_there.data(), n,
                          kPlanes, kUnits * kPlanes, half_planes.data());
    const std::vector<Complex> made = this->get(half_planes);
    for (size_t slot = 0; slot < kSlots; ++slot) {
      for (const int column : {0, n / 2}) {
        for (int row = 0; row < n; ++row) {
          const auto at = [&](int y) {
            const auto columns = static_cast<size_t>(n) / 2 + 1;
            return made[slot * size + static_cast<size_t>(y) * columns +
                        static_cast<size_t>(column)];
          };
          ASSERT_LT(std::abs(at(row) - std::conj(at((n - row) % n))), 1e-6)
              << "libraries differ in what they make of other spectra";
        }
      }
    }
    this->device_->back_transform(plan, half_planes.data(), images.data());

    std::vector<float> expected(kSlots * image);
    const engine::cpu::ProjectionPlan reference(n);
    engine::cpu::AlignedArray<Complex> half(size);
    engine::cpu::AlignedArray<float> out(image);
    for (size_t slot = 0; slot < kUnits * kPlanes; ++slot) {
      for (size_t i = 0; i < size; ++i) {
        half[i] = slices[slot / kPlanes * size + i] * filters[slot % kPlanes * size + i];
      }
      reference.execute(half.data(), out.data());
      std::copy_n(out.data(), image, expected.data() + slot * image);
    }
    EXPECT_LT(difference(this->get(images), expected), 1e-5) << n;
  }
}

namespace template_rows_case {

// What should become of a back-transform: normalised, plain or mirrored.
inline std::vector<float> normalised(const std::vector<float>& back, int n, int height, int width,
                                     bool mirrored) {
  std::vector<float> out(back.size());
  engine::centre_projection(back.data(), n, out.data());
  if (mirrored) out = engine::mirrored_projection(out, n);
  return engine::normalised_projection(out, n, height, width,
                                       1.0 / (static_cast<double>(height) * width));
}

}  // namespace template_rows_case

TYPED_TEST_P(CudaKernels, TemplateRowsCarryThePairsNormalised) {
  const std::vector<engine::Transform> list = {
      {0, 0, 0, 1}, {1, 2, 0, 1}, {2, -1, 0, -1}, {}, {1, 1, 0, 1}};
  for (const int n : this->sizes()) {
    const int height = n + 11;
    const int width = n + 34;
    const size_t size = static_cast<size_t>(n) * static_cast<size_t>(n);
    const std::vector<float> images = random_floats(3 * size, 8);
    const auto images_there = this->put(images);
    auto scales = this->template space<cuda::ProjectionScale>(3);
    const auto pixels = static_cast<double>(height) * width;
    const cuda::ImageArea area{pixels, static_cast<double>(height - n) * (width - n), 1 / pixels};
    this->device_->launch("measure_projections", cuda::measure_projections<256>, dim3(3), dim3(256),
                          4 * 256 * sizeof(double), images_there.data(), n, area, scales.data());
    const auto list_there = this->put(list);
    const size_t line = static_cast<size_t>(width);
    auto rows = this->template space<float2>(static_cast<size_t>(n) * list.size() * line);
    this->device_->launch("pack_template_rows", cuda::pack_template_rows,
                          this->grid_for(width, static_cast<unsigned>(n), 5),
                          this->block_for(width), 0,
                          cuda::Projections{images_there.data(), scales.data(), n},
                          list_there.data(), width, rows.data());

    std::vector<Complex> expected(static_cast<size_t>(n) * list.size() * line);
    for (size_t t = 0; t < list.size(); ++t) {
      const auto part = [&](int slot, bool mirrored) {
        const float* image = images.data() + static_cast<size_t>(slot) * size;
        return slot < 0 ? std::vector<float>(size)
                        : template_rows_case::normalised({image, image + size}, n, height, width,
                                                         mirrored);
      };
      const std::vector<float> a = part(list[t].a, false);
      const std::vector<float> b = part(list[t].b, list[t].b == list[t].a);
      for (size_t row = 0; row < static_cast<size_t>(n); ++row) {
        for (size_t x = 0; x < static_cast<size_t>(n); ++x) {
          expected[(row * list.size() + t) * line + x] = {a[row * static_cast<size_t>(n) + x],
                                                          -b[row * static_cast<size_t>(n) + x]};
        }
      }
    }
    EXPECT_LT(difference(this->get(rows), expected), 1e-6) << n;
  }
}

TYPED_TEST_P(CudaKernels, AHalfPlaneUnfoldsIntoTheWholeOne) {
  for (const auto& [height, width] : {std::pair{6, 8}, std::pair{7, 9}, std::pair{40, 34}}) {
    const auto columns = static_cast<size_t>(width) / 2 + 1;
    const std::vector<Complex> half = random_complex(static_cast<size_t>(height) * columns, 9);
    const auto half_there = this->put(half);
    auto whole =
        this->template space<float2>(static_cast<size_t>(height) * static_cast<size_t>(width));
    this->device_->launch("expand_spectrum", cuda::expand_spectrum,
                          this->grid_for(width, static_cast<unsigned>(height)),
                          this->block_for(width), 0, half_there.data(), height, width,
                          whole.data());
    const std::vector<Complex> values = this->get(whole);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const bool stored = static_cast<size_t>(x) < columns;
        const int row = stored ? y : (height - y) % height;
        const int column = stored ? x : width - x;
        const Complex from = half[static_cast<size_t>(row) * columns + static_cast<size_t>(column)];
        ASSERT_EQ(
            values[static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)],
            stored ? from : std::conj(from))
            << y << ' ' << x;
      }
    }
  }
}

TYPED_TEST_P(CudaKernels, TheProductIsConjugatedOnTheTemplate) {
  constexpr size_t kHeight = 5;
  constexpr size_t kWidth = 300;
  constexpr size_t kTransforms = 3;
  const std::vector<Complex> image = random_complex(kHeight * kWidth, 10);
  std::vector<Complex> expected = random_complex(kHeight * kTransforms * kWidth, 11);
  const auto image_there = this->put(image);
  auto spectra = this->put(expected);
  this->device_->launch("multiply_conjugate", cuda::multiply_conjugate,
                        this->grid_for(kWidth, kHeight), this->block_for(kWidth), 0,
                        image_there.data(), static_cast<int>(kWidth), static_cast<int>(kTransforms),
                        spectra.data());
  for (size_t i = 0; i < expected.size(); ++i) {
    const size_t row = i / kWidth / kTransforms;
    expected[i] = std::conj(expected[i]) * image[row * kWidth + i % kWidth];
  }
  EXPECT_LT(difference(this->get(spectra), expected), 1e-6);
}

TYPED_TEST_P(CudaKernels, TransformsAreOfTheLinesTheyAreGiven) {
  // Three columns of a 12 x 5 array, and a frequency in each.
  typename TypeParam::Device::LinePlan plan(*this->device_, cuda::Lines{12, 3, 5, 1});
  this->device_->allocate_workspace();
  std::vector<Complex> values(60, {7, 7});
  std::vector<Complex> expected = values;
  for (int column = 0; column < 3; ++column) {
    for (int i = 0; i < 12; ++i) {
      const auto at = static_cast<size_t>(5 * i + column);
      values[at] = std::polar(1.0f, static_cast<float>(2 * M_PI * i * (column + 4) / 12));
      expected[at] = i == column + 4 ? 12.0f : 0.0f;
    }
  }
  auto there = this->put(values);
  this->device_->forward(plan, there.data(), there.data());
  EXPECT_LT(difference(this->get(there), expected), 1e-6);
  this->device_->inverse(plan, there.data(), there.data());
  for (size_t i = 0; i < values.size(); ++i) values[i] *= i % 5 < 3 ? 12.0f : 1.0f;
  EXPECT_LT(difference(this->get(there), values), 1e-6);
}

// Values whose squares and sums are exact, so that the integers can be compared.
inline std::vector<Complex> exact_values(size_t count, unsigned seed) {
  std::vector<Complex> values = random_complex(count, seed);
  const auto rounded = [](float value) { return std::round(value * 64) / 64; };
  for (Complex& v : values) v = {rounded(v.real()), rounded(v.imag())};
  return values;
}

TYPED_TEST_P(CudaKernels, StatisticsAreThoseOfThePlainLoop) {
  constexpr int kHeight = 3;
  constexpr int kWidth = 290;
  constexpr int kValid = 271;
  const std::vector<engine::Transform> list = {
      {0, 0, 7, 9}, {1, -1, 3, -1}, {2, 3, 11, 12}, {4, 4, 1, 2}};
  constexpr int kUsed = 3;
  std::vector<Complex> rows = exact_values(kHeight * list.size() * kWidth, 12);
  rows[0] = {-0.0f, 0.0f};
  rows[1] = {1.5f, 1.5f};  // a tie within a pair, and below one with the pair that comes later
  rows[2 * kWidth + 1] = {1.5f, 1.0f};
  const auto rows_there = this->put(rows);
  const auto list_there = this->put(list);
  cuda::MapStatistics<typename TypeParam::Device> statistics(*this->device_, kHeight, kValid);
  for (int round = 0; round < 2; ++round) {
    this->device_->launch("accumulate", cuda::accumulate, this->grid_for(kValid, kHeight),
                          this->block_for(kValid), 0, rows_there.data(), list_there.data(), kUsed,
                          static_cast<int>(list.size()), kWidth, kValid, statistics.on_device());
  }

  const auto fixed = [](double value, int bits) { return std::llrint(std::ldexp(value, bits)); };
  engine::Accumulators expected(kHeight, kValid);
  for (size_t i = 0; i < expected.best.size(); ++i) {
    const size_t row = i / kValid;
    for (size_t t = 0; t < kUsed; ++t) {
      const Complex v = rows[(row * list.size() + t) * kWidth + i % kValid];
      const bool pair = list[t].second >= 0;
      const double u = v.real();
      const double w = pair ? v.imag() : 0;
      expected.sum[i] += 2 * fixed(u + w, engine::kSumBits);
      // Exact, so that it is rounded once.
      expected.squares[i] += 2 * fixed(u * u + w * w, engine::kSquareBits);
      const auto key = [](float value, int32_t index) {
        return engine::pack_best(value, static_cast<uint32_t>(index));
      };
      expected.best[i] = std::max(expected.best[i], key(v.real(), list[t].first));
      if (pair) expected.best[i] = std::max(expected.best[i], key(v.imag(), list[t].second));
    }
  }
  const engine::Accumulators found = statistics.read("no pixel");
  EXPECT_EQ(found.best, expected.best);
  EXPECT_EQ(found.sum, expected.sum);
  EXPECT_EQ(found.squares, expected.squares);
  EXPECT_NEAR(statistics.best_z(10), engine::best_z(expected, 10), 1e-9);
  EXPECT_EQ(statistics.best_z(1), 0);
}

TYPED_TEST_P(CudaKernels, TheWorstValueOutOfRangeIsReportedWithItsPixel) {
  constexpr int kWidth = 40;
  constexpr int kHeight = 4;
  const std::vector<engine::Transform> list = {{0, 0, 0, 1}};
  const auto list_there = this->put(list);
  const auto report = [&](const std::vector<std::pair<size_t, Complex>>& bad,
                          int64_t squares_before) -> std::string {
    std::vector<Complex> rows = exact_values(kWidth * kHeight, 13);
    for (const auto& [at, value] : bad) rows[at] = value;
    const auto rows_there = this->put(rows);
    cuda::MapStatistics<typename TypeParam::Device> statistics(*this->device_, kHeight, kWidth);
    engine::Accumulators before(kHeight, kWidth);
    before.squares[2 * kWidth + 3] = squares_before;
    statistics.restore(before);
    this->device_->launch("accumulate", cuda::accumulate, this->grid_for(kWidth, kHeight),
                          this->block_for(kWidth), 0, rows_there.data(), list_there.data(), 1, 1,
                          kWidth, kWidth, statistics.on_device());
    try {
      statistics.read("the micrograph's pixel");
    } catch (const engine::InputError& e) {
      return e.what();
    }
    return "nothing";
  };
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto at = [](int row, int column) {
    return "(row " + std::to_string(row) + ", column " + std::to_string(column) + ")";
  };
  const auto says = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(report({}, 0), "nothing");
  EXPECT_EQ(report({{5, {46000, 0}}}, 0), "nothing");
  EXPECT_TRUE(says(report({{5, {0, 47000}}}, 0), at(0, 5)));
  EXPECT_TRUE(says(report({{5, {0, 47000}}, {44, {1e9f, 0}}, {50, {-1e8f, 0}}}, 0), at(1, 4)));
  EXPECT_TRUE(says(report({{7, {1e9f, 0}}, {159, {0, -inf}}}, 0), at(3, 39)));
  EXPECT_TRUE(says(report({{6, {nan, 0}}, {159, {0, -inf}}}, 0), at(0, 6)));
  // A tie goes to the first pixel.
  EXPECT_TRUE(says(report({{81, {1e9f, 0}}, {80, {1e9f, 0}}}, 0), at(2, 0)));
  const auto limit = static_cast<int64_t>(engine::kSquareLimit);
  EXPECT_TRUE(says(report({{83, {1, 1}}}, limit - 1), at(2, 3)));
  EXPECT_TRUE(says(report({{83, {1, 1}}}, limit - 1), "the micrograph's pixel"));
  EXPECT_EQ(report({{83, {1, 1}}}, limit - (int64_t{4} << engine::kSquareBits)), "nothing");
}

REGISTER_TYPED_TEST_SUITE_P(CudaKernels, SlicesAreThoseOfTheCpu, MagnifiedSlicesAreThoseOfTheCpu,
                            FilteredSlicesHaveTheBackTransformsOfTheCpu,
                            TemplateRowsCarryThePairsNormalised, AHalfPlaneUnfoldsIntoTheWholeOne,
                            TheProductIsConjugatedOnTheTemplate,
                            TransformsAreOfTheLinesTheyAreGiven, StatisticsAreThoseOfThePlainLoop,
                            TheWorstValueOutOfRangeIsReportedWithItsPixel);

}  // namespace tests
