#include "engine/pictures/pictures.h"

#include <cairo.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <memory>

#include "engine/pictures/histogram.h"
#include "engine/pictures/scales.h"
#include "tests/unit/engine/scratch.h"

namespace engine {
namespace {

using ::testing::ElementsAre;

// A PNG read back.
class Png {
 public:
  explicit Png(const std::string& path)
      : surface_(cairo_image_surface_create_from_png(path.c_str()), cairo_surface_destroy) {
    if (cairo_surface_status(surface_.get()) != CAIRO_STATUS_SUCCESS) {
      throw std::runtime_error("no PNG: " + path);
    }
  }
  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }
  uint32_t at(int x, int y) const {
    const unsigned char* row =
        cairo_image_surface_get_data(surface_.get()) +
        static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get());
    return reinterpret_cast<const uint32_t*>(row)[x] & 0xFFFFFFu;
  }
  // Pixels that are nearly of this colour.
  int count_near(uint32_t colour) const {
    int count = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) count += near(at(x, y), colour) ? 1 : 0;
    }
    return count;
  }
  static bool near(uint32_t a, uint32_t b) {
    for (const int shift : {0, 8, 16}) {
      if (std::abs(static_cast<int>(a >> shift & 255) - static_cast<int>(b >> shift & 255)) > 24) {
        return false;
      }
    }
    return true;
  }

 private:
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
};

struct Scene {
  Image micrograph = Image(200, 300);
  Maps maps;
  PictureContext context = {
      .micrograph_name = "m.mrc", .pixel_size = 2.0, .template_size = 40, .cutoff = 6.0};

  Scene() {
    uint32_t state = 7;
    const auto noise = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<float>(state >> 8) / static_cast<float>(1 << 24);
    };
    for (float& value : micrograph.pixels) value = 10.0f + noise();
    maps.height = 161;
    maps.width = 261;
    maps.scaled_mip = Image(161, 261);
    for (float& value : maps.scaled_mip.pixels) value = 4.0f + noise();
    maps.mip = maps.scaled_mip;
    maps.total_correlations = 100000;
  }

  NamedFiles draw(const ScratchFolder& folder, const std::vector<Peak>& peaks) const {
    return write_pictures(folder.file("pictures/"), micrograph, maps, peaks, context);
  }
};

// Where pixel (x, y) of the scene's micrograph lies in its picture: 300 pixels over 1000.
std::pair<int, int> place(double x, double y) {
  return {static_cast<int>(92 + (x + 0.5) / 0.3), static_cast<int>(84 + (y + 0.5) / 0.3)};
}

constexpr uint32_t kBestColour = 0xFF54D0;

TEST(Pictures, ThreeAreWrittenAndNamed) {
  const ScratchFolder folder;
  const auto pictures = Scene().draw(folder, {});
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_EQ(pictures[0].first, "micrograph_peaks");
  EXPECT_EQ(pictures[1].first, "scaled_mip");
  EXPECT_EQ(pictures[2].first, "z_histogram");
  for (const auto& [name, path] : pictures) {
    EXPECT_EQ(path, folder.file("pictures/" + name + ".png"));
    const Png png(path);
    EXPECT_GE(png.width(), 1000) << name;
    EXPECT_GE(png.height(), 700) << name;
  }
}

TEST(Pictures, ACircleAsWideAsTheTemplateLiesAroundThePeak) {
  const ScratchFolder folder;
  const Peak best = {.x = 100, .y = 60, .scaled_mip = 9.0f};  // centre at 120, 80
  const Png png(Scene().draw(folder, {best})[0].second);
  for (const auto& [x, y] : {place(140, 80), place(100, 80), place(120, 60), place(120, 100)}) {
    EXPECT_TRUE(Png::near(png.at(x, y), kBestColour)) << x << ' ' << y;
  }
  const auto [x, y] = place(120, 80);
  EXPECT_FALSE(Png::near(png.at(x, y), kBestColour));
}

TEST(Pictures, ACircleHasTheParticlesRadiusWhereItIsGiven) {
  const ScratchFolder folder;
  Scene scene;
  scene.context.particle_radius = 24.0;                       // A: 12 pixels
  const Peak best = {.x = 100, .y = 60, .scaled_mip = 9.0f};  // centre at 120, 80
  const Png png(scene.draw(folder, {best})[0].second);
  for (const auto& [x, y] : {place(132, 80), place(108, 80), place(120, 68), place(120, 92)}) {
    EXPECT_TRUE(Png::near(png.at(x, y), kBestColour)) << x << ' ' << y;
  }
  const auto [x, y] = place(140, 80);
  EXPECT_FALSE(Png::near(png.at(x, y), kBestColour));
}

TEST(Pictures, WithoutPeaksNoCircleIsDrawn) {
  const ScratchFolder folder;
  const Png png(Scene().draw(folder, {})[0].second);
  EXPECT_EQ(png.count_near(kBestColour), 0);
}

TEST(Pictures, TheMipShowsItsBrightestPixelInTheLastColourWhereItLies) {
  const ScratchFolder folder;
  Scene scene;
  for (int y = 79; y <= 81; ++y) {
    for (int x = 129; x <= 131; ++x) scene.maps.scaled_mip.at(y, x) = 12.0f;
  }
  const Png png(scene.draw(folder, {})[1].second);
  const double scale = 1000.0 / 261.0;
  const int x = static_cast<int>(92 + 130.5 * scale);
  const int y = static_cast<int>(84 + 80.5 * scale);
  EXPECT_TRUE(Png::near(png.at(x, y), 0xFDE725));
  EXPECT_FALSE(Png::near(png.at(x + 40, y), 0xFDE725));
}

TEST(Pictures, PixelsAboveTheThresholdAreColouredApartInTheHistogram) {
  const ScratchFolder folder;
  constexpr uint32_t kOrange = 0xED8C24;
  Scene scene;
  const int legend_only = Png(scene.draw(folder, {})[2].second).count_near(kOrange);
  scene.maps.scaled_mip.at(3, 3) = 6.5f;
  EXPECT_GT(Png(scene.draw(folder, {})[2].second).count_near(kOrange), legend_only);
}

TEST(Pictures, StrangeNamesAndValuesDoNoHarm) {
  const ScratchFolder folder;
  Scene scene;
  scene.micrograph.at(5, 5) = std::numeric_limits<float>::quiet_NaN();
  scene.micrograph.at(6, 6) = std::numeric_limits<float>::infinity();
  scene.maps.scaled_mip.at(1, 1) = std::numeric_limits<float>::infinity();
  scene.maps.scaled_mip.at(2, 2) = 1e30f;
  scene.maps.scaled_mip.at(2, 4) = -1e30f;
  for (const std::string& name :
       {std::string(), std::string("a\nb\tc"), std::string("\xff\xfe\xc3("), std::string(5000, 'n'),
        std::string("nul\0byte", 8), std::string("\xed\xa0\x80 µ 試料")}) {
    scene.context.micrograph_name = name;
    EXPECT_EQ(scene.draw(folder, {Peak{.x = 1, .y = 1, .scaled_mip = 1e30f}}).size(), 3u);
  }
}

TEST(Pictures, FlatEmptyAndNarrowImagesAreDrawn) {
  const ScratchFolder folder;
  Scene scene;
  scene.micrograph = Image(3, 900, 5.0f);
  scene.maps.scaled_mip = Image(900, 2);
  scene.context.cutoff = 1e300;
  EXPECT_EQ(scene.draw(folder, {}).size(), 3u);
  scene.micrograph = Image(3000, 10, 5.0f);
  scene.maps.scaled_mip = Image(1, 1, std::numeric_limits<float>::quiet_NaN());
  scene.maps.total_correlations = 0;
  scene.context.cutoff = -5.0;
  EXPECT_EQ(scene.draw(folder, {}).size(), 3u);
}

TEST(Pictures, ManyPeaksAreDrawnInReasonableSize) {
  const ScratchFolder folder;
  std::vector<Peak> peaks;
  for (int i = 0; i < 20000; ++i) {
    peaks.push_back({.x = i % 261, .y = (i / 261) % 161, .scaled_mip = 9.0f - 1e-4f * i});
  }
  EXPECT_EQ(Scene().draw(folder, peaks).size(), 3u);
}

TEST(NoiseDensity, IntegratesToThePixels) {
  for (const double correlations : {1.0, 2.0, 1e3, 1e6, 1e8}) {
    double sum = 0;
    for (double z = -10; z < 15; z += 1e-3) sum += 1e-3 * noise_density(z, 5000, correlations);
    EXPECT_NEAR(sum, 5000, 0.01) << correlations;
  }
}

TEST(NoiseDensity, HasTheTailThatTheCutOffAssumes) {
  // About one pixel in 1e6 is expected beyond the cut-off for one false positive.
  const double cutoff = noise_cutoff(1e6, 1e8, 1.0);
  double sum = 0;
  for (double z = cutoff; z < 15; z += 1e-4) sum += 1e-4 * noise_density(z, 1e6, 1e8);
  EXPECT_NEAR(sum, 1.0, 1e-2);
}

TEST(NoiseDensity, IsZeroAndFiniteFarOut) {
  for (const double z : {-1e3, -40.0, 45.0, 1e3}) {
    EXPECT_EQ(noise_density(z, 1e6, 1e8), 0.0) << z;
  }
}

TEST(PictureText, IsValidUtf8InOneLine) {
  EXPECT_EQ(plain_text("plain µ 試 😀"), "plain µ 試 😀");
  EXPECT_EQ(plain_text("a\nb\x7f"), "a b ");
  EXPECT_EQ(plain_text("\xc0\xaf|\xed\xa0\x80|\xf5|\xe2\x82"),
            "\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD|\uFFFD\uFFFD");
  EXPECT_EQ(elided_text("0123456789", 5), "01…89");
  EXPECT_EQ(elided_text("µµµµ", 3), "µ…µ");
  EXPECT_EQ(elided_text("abc", 3), "abc");
}

TEST(PictureScales, TicksAreRoundAndInside) {
  EXPECT_THAT(ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(3.2, 5.1, 4), ElementsAre(3.5, 4.0, 4.5, 5.0));
  EXPECT_EQ(tick_text(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(tick_text(-0.0, 1), "0");
  EXPECT_EQ(nice_length(26.0), 20.0);
  EXPECT_EQ(nice_length(1.0), 1.0);
}

TEST(PictureScales, BinningKeepsTheLargestOrTheMean) {
  Image image(3, 5);
  image.at(0, 1) = 8.0f;
  image.at(2, 4) = 4.0f;
  EXPECT_THAT(binned(image, 2, Binning::kMaximum).pixels, ElementsAre(8, 0, 0, 0, 0, 4));
  EXPECT_THAT(binned(image, 2, Binning::kMean).pixels, ElementsAre(2, 0, 0, 0, 0, 4));
}

TEST(PictureScales, BlurringKeepsTheSum) {
  Image image(21, 21);
  image.at(10, 10) = 1.0f;
  const Image result = blurred(image, 2.0);
  float sum = 0;
  for (const float value : result.pixels) sum += value;
  EXPECT_NEAR(sum, 1.0f, 1e-5f);
  EXPECT_LT(result.at(10, 10), 0.05f);
  EXPECT_FLOAT_EQ(result.at(10, 8), result.at(8, 10));
}

}  // namespace
}  // namespace engine
