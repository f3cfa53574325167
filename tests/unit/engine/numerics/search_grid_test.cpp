// The grid of a search that is cropped to its resolution limit, and the spectra on it.
#include "engine/numerics/search_grid.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "engine/numerics/fft.h"
#include "engine/numerics/fourier_crop.h"

namespace engine {
namespace {

std::tuple<int, int, int> sides(const std::optional<SearchGrid>& grid) {
  return grid ? std::tuple(grid->height, grid->width, grid->template_size) : std::tuple(0, 0, 0);
}

TEST(ResolutionLimit, IsThatOfTheBandpassWithItsFalloff) {
  EXPECT_EQ(resolution_limit({.enabled = false, .high_freq_cutoff = 0.25}), std::nullopt);
  EXPECT_EQ(resolution_limit({.enabled = true}), std::nullopt);
  EXPECT_EQ(resolution_limit({.enabled = true, .high_freq_cutoff = 0.25}), 0.25);
  EXPECT_EQ(resolution_limit({.enabled = true, .high_freq_cutoff = 0.25, .falloff = 0.125}), 0.375);
  EXPECT_EQ(resolution_limit({.enabled = true, .high_freq_cutoff = 0.375, .falloff = 0.125}),
            std::nullopt);
}

TEST(SearchGrid, HoldsTheLimitAndIsGoodForTransforms) {
  // 1.06 A a pixel and 3 A: three quarters of each side.
  EXPECT_EQ(sides(choose_search_grid(4096, 4096, 512, 0.353)), std::tuple(3072, 3072, 384));
  EXPECT_EQ(sides(choose_search_grid(5760, 4092, 512, 0.353)), std::tuple(4320, 3072, 384));
  EXPECT_EQ(sides(choose_search_grid(4096, 4096, 512, 0.24)), std::tuple(2048, 2048, 256));
  for (const double limit : {0.05, 0.11, 0.2, 0.3, 0.4}) {
    for (const int size : {64, 126, 384, 512, 600}) {
      const auto grid = choose_search_grid(3710, 3838, size, limit);
      if (!grid) continue;
      SCOPED_TRACE(testing::Message() << limit << ' ' << size);
      EXPECT_GE(grid->template_size, 2 * (limit * size + 1));
      EXPECT_EQ(grid->height % 2 + grid->width % 2 + grid->template_size % 2, 0);
      // The pixels are as large in all of them.
      EXPECT_EQ(grid->height * grid->of, grid->padded_height * grid->to);
      EXPECT_EQ(grid->width * grid->of, grid->padded_width * grid->to);
      EXPECT_EQ(grid->template_size * grid->of, size * grid->to);
      EXPECT_GE(grid->padded_height, 3710);
      EXPECT_LT(int64_t{grid->height} * grid->width * 10, int64_t{3710} * 3838 * 9 + 10);
    }
  }
}

TEST(SearchGrid, IsWithinThreePercentOfTheCheapest) {
  // 630 has the fewest pixels, 640 2 % more, and 648, which shares most with 864, 5 % more.
  EXPECT_EQ(choose_search_grid(5760, 4092, 864, 0.35)->template_size, 640);
}

TEST(SearchGrid, IsTheMicrographsOwnWhereLittleWouldBeSaved) {
  EXPECT_EQ(sides(choose_search_grid(4096, 4096, 512, 0.48)), std::tuple(0, 0, 0));
  // A side of 509 has no factor in common with any other.
  EXPECT_EQ(sides(choose_search_grid(4096, 4096, 2 * 509, 0.3)), std::tuple(0, 0, 0));
}

TEST(SearchGrid, HasRoomForWhatTheMagnificationStretches) {
  const FrequencyTransform stretched{.yy = 1.2, .yx = 0.1, .xy = -0.1, .xx = 0.9};
  const auto plain = choose_search_grid(1024, 1024, 256, 0.25);
  const auto grid = choose_search_grid(1024, 1024, 256, 0.25, stretched);
  ASSERT_TRUE(plain && grid);
  EXPECT_GE(grid->template_size, 2 * (0.25 * 256 * 1.2 + 1 + std::numbers::sqrt2));
  EXPECT_LT(plain->template_size, 2 * (0.25 * 256 * 1.2 + 1));
}

TEST(SearchGrid, FindsItsPixelsAgainOnTheMicrograph) {
  for (const auto& [to, of] : {std::pair(3, 4), {1, 2}, {5, 8}, {9, 16}, {13, 14}}) {
    const SearchGrid grid{.to = to, .of = of};
    for (int pixel = 0; pixel < 500; ++pixel) {
      EXPECT_EQ(grid.nearest(grid.pixel_of(pixel)), pixel);
      EXPECT_LE(std::abs(grid.nearest(pixel) - static_cast<double>(pixel) * to / of), 0.5);
    }
  }
}

TEST(SearchGrid, HasASampleOfWholePixels) {
  for (const auto& [height, width, size, limit] : {std::tuple(4096, 4096, 512, 0.353),
                                                   {3710, 3838, 384, 0.3},
                                                   {72, 90, 16, 0.25},
                                                   {600, 2000, 600, 0.2},
                                                   {500, 500, 126, 0.3}}) {
    const auto grid = choose_search_grid(height, width, size, limit);
    ASSERT_TRUE(grid) << size;
    const SearchGrid part = grid_of_sample(*grid, height, width);
    EXPECT_GE(part.padded_height, size);
    EXPECT_LE(part.padded_height, height);
    EXPECT_LE(part.padded_width, std::max(1024, 2 * size));
    EXPECT_EQ(part.padded_height * part.to, part.height * part.of);
    EXPECT_EQ(part.padded_width * part.to, part.width * part.of);
    EXPECT_EQ(part.template_size, grid->template_size);
    EXPECT_EQ(part.height % 2 + part.width % 2, 0);
  }
}

TEST(SearchGrid, CountsItsPixelsWithinTheMicrograph) {
  const SearchGrid grid{.to = 3, .of = 4};
  for (int pixels = 1; pixels < 100; ++pixels) {
    const int count = grid.pixels_within(pixels);
    EXPECT_LT(grid.pixel_of(count - 1), pixels);
    EXPECT_GE(grid.pixel_of(count), pixels);
  }
}

Maps numbered(int height, int width) {
  Maps maps;
  maps.height = height;
  maps.width = width;
  maps.total_correlations = 12;
  float value = 0;
  for (const auto image : {&Maps::mip, &Maps::scaled_mip, &Maps::mean, &Maps::sd, &Maps::psi,
                           &Maps::theta, &Maps::phi, &Maps::relative_defocus}) {
    maps.*image = Image(height, width);
    for (float& pixel : (maps.*image).pixels) pixel = ++value;
  }
  return maps;
}

TEST(SearchGrid, MapsOfTheMicrographHoldThoseOfTheSearch) {
  const SearchGrid grid{.to = 3, .of = 4};
  const Maps search = numbered(9, 13);
  const Maps out = on_micrograph(search, grid, 11, 16);
  EXPECT_EQ(out.height, 11);
  EXPECT_EQ(out.width, 16);
  EXPECT_EQ(out.total_correlations, 12);
  EXPECT_EQ(out.mip.at(10, 15), search.mip.at(8, 11));
  EXPECT_EQ(out.psi.at(4, 8), search.psi.at(3, 6));
  const Maps back = on_search_grid(out, grid);
  EXPECT_EQ(back.height, 8)
      << "the ninth is nearest to pixel 11 of the micrograph, which is beyond";
  EXPECT_EQ(back.width, 12);
  for (int y = 0; y < back.height; ++y) {
    for (int x = 0; x < back.width; ++x) EXPECT_EQ(back.phi.at(y, x), search.phi.at(y, x));
  }
}

// A wave of few periods is the same wave on every grid that holds it.
TEST(FourierCrop, LeavesAWaveAsItIs) {
  constexpr int kHeight = 24, kWidth = 32;
  const auto wave = [](double y, double x) {
    return std::cos(2 * std::numbers::pi * (3 * y - 5 * x) + 0.4);
  };
  const auto spectrum_of = [&](int height, int width) {
    Image image(height, width);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        image.at(y, x) = static_cast<float>(
            wave(static_cast<double>(y) / height, static_cast<double>(x) / width));
      }
    }
    return forward_2d(image);
  };
  PreparedImage image;
  image.height = kHeight;
  image.width = kWidth;
  image.spectrum = spectrum_of(kHeight, kWidth);
  const SearchGrid grid{.height = 18,
                        .width = 24,
                        .padded_height = kHeight,
                        .padded_width = kWidth,
                        .to = 3,
                        .of = 4};
  const auto cropped = crop_image_spectrum(image, grid);
  const auto expected = spectrum_of(18, 24);
  ASSERT_EQ(cropped.size(), expected.size());
  const double larger = static_cast<double>(kHeight * kWidth) / (18 * 24);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(std::abs(std::complex<double>(cropped[i]) - expected[i] * larger), 0, 1e-3) << i;
  }
}

TEST(FourierCrop, TakesTheLowFrequenciesOfVolumeAndFilter) {
  constexpr int kOf = 8, kTo = 4;
  std::vector<std::complex<float>> volume, filter;
  for (int z = -kOf / 2; z < kOf / 2; ++z) {
    for (int y = -kOf / 2; y < kOf / 2; ++y) {
      for (int x = 0; x <= kOf / 2; ++x) {
        volume.emplace_back(static_cast<float>(100 * z + 10 * y + x), 0.0f);
      }
    }
  }
  for (const int y : {0, 1, 2, 3, -4, -3, -2, -1}) {
    for (int x = 0; x <= kOf / 2; ++x) filter.emplace_back(static_cast<float>(10 * y + x), 0.0f);
  }
  const auto small = crop_volume_spectrum(volume, kOf, kTo);
  ASSERT_EQ(small.size(), 4u * 4 * 3);
  EXPECT_EQ(small.front().real(), -220);
  EXPECT_EQ(small.back().real(), 112);
  const auto plane = crop_filter(filter, kOf, kTo);
  std::vector<float> values;
  for (const auto& value : plane) values.push_back(value.real());
  EXPECT_THAT(values, testing::ElementsAre(0, 1, 2, 10, 11, 12, -20, -19, -18, -10, -9, -8));
}

}  // namespace
}  // namespace engine
