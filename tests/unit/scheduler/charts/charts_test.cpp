#include "scheduler/charts/charts.h"

#include <cairo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace scheduler::charts {
namespace {

constexpr uint32_t kWhite = 0xFFFFFF;
constexpr uint32_t kRed = 0xCC2633;   // of the first band
constexpr uint32_t kBlue = 0x3373BF;  // of the first policy

// A PNG read back.
class Png {
 public:
  explicit Png(std::string_view bytes)
      : surface_(cairo_image_surface_create_from_png_stream(read, &bytes), cairo_surface_destroy) {
    if (cairo_surface_status(surface_.get()) != CAIRO_STATUS_SUCCESS) {
      throw std::runtime_error("no PNG");
    }
  }
  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }
  uint32_t at(int x, int y) const {
    const unsigned char* row =
        cairo_image_surface_get_data(surface_.get()) +
        static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get());
    return reinterpret_cast<const uint32_t*>(row)[x] & 0xFFFFFFU;
  }
  int count(uint32_t colour) const {
    int count = 0;
    for (int y = 0; y < height(); ++y) {
      for (int x = 0; x < width(); ++x) count += at(x, y) == colour ? 1 : 0;
    }
    return count;
  }

 private:
  static cairo_status_t read(void* from, unsigned char* to, unsigned int size) {
    auto& rest = *static_cast<std::string_view*>(from);
    if (rest.size() < size) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, rest.data(), size);
    rest.remove_prefix(size);
    return CAIRO_STATUS_SUCCESS;
  }

  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
};

Panel panel(double seconds, double gpus) {
  return {.title = "ours",
          .seconds = seconds,
          .gpus = 64,
          .bands = {{.name = "urgent", .gpus = std::vector<double>(kColumns, gpus)}}};
}

TEST(Charts, TheAreaOfABandIsTheTimeOfItsGpus) {
  const int none = Png(timeline_png({panel(3600, 0)})).count(kRed);  // that of the legend
  const int half = Png(timeline_png({panel(3600, 32)})).count(kRed) - none;
  const int all = Png(timeline_png({panel(3600, 64)})).count(kRed) - none;
  EXPECT_NEAR(half, all / 2, 0.02 * all);
  const int shorter = Png(timeline_png({panel(3600, 64), panel(7200, 0)})).count(kRed) - none;
  EXPECT_NEAR(shorter, all / 2, 0.02 * all) << "both have the longest one's scale";
}

TEST(Charts, AClassHasItsOwnColourWhateverOthersThereAre) {
  Panel low = panel(3600, 64);
  low.bands.front().name = "low";
  EXPECT_EQ(Png(timeline_png({low})).count(kRed), 0);
  Panel both = low;
  both.bands.push_back({.name = "urgent", .gpus = std::vector<double>(kColumns, 0)});
  EXPECT_GT(Png(timeline_png({both})).count(kRed), 0) << "in the legend";
}

TEST(Charts, LongNamesStandOneBelowAnother) {
  const Waits brief{.group = "low", .name = "ours"};
  Waits wordy = brief;
  wordy.name = "ours, policy.classes.urgent.cap=4 nodes; site.nodes=14";
  Waits wordier = wordy;
  wordier.name += "; site.max_jobs=100";
  const int one_line = Png(waits_png({brief})).height();
  const Png several(waits_png({brief, wordy, wordier}));
  EXPECT_GT(several.height(), one_line + 40);
  EXPECT_EQ(several.at(96, 16), kBlue) << "the first name's";
  EXPECT_NE(several.at(96, 38), kWhite) << "the second's, below it";
}

TEST(Charts, ALongerWaitHasALongerBar) {
  const Waits minute{.group = "low",
                     .name = "ours",
                     .wait_median = 60,
                     .wait_ninety = 60,
                     .done_median = 60,
                     .done_ninety = 60};
  Waits hour = minute;
  hour.done_median = hour.done_ninety = 3600;
  const int same = Png(waits_png({minute, hour})).count(kBlue);
  Waits day = hour;
  day.wait_median = day.wait_ninety = 3600;
  EXPECT_GT(Png(waits_png({minute, day})).count(kBlue), same);
}

TEST(Charts, WithoutDataTheSheetIsNearlyEmpty) {
  const Png empty(timeline_png({}));
  EXPECT_EQ(empty.count(kWhite), empty.width() * empty.height());
  EXPECT_EQ(Png(waits_png({})).count(kBlue), 0);
}

}  // namespace
}  // namespace scheduler::charts
