// Searches on a coarser grid beside the same ones on the micrograph's own.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <filesystem>

#include "engine/backend/crop_error.h"
#include "engine/backend/precision_error.h"
#include "engine/search/device.h"
#include "tests/unit/engine/scratch.h"
#include "tests/unit/engine/search/small_search.h"

namespace engine {
namespace {

SearchConfig limited_config(bool cropped) {
  SearchConfig config = small_config();
  config.filters.bandpass = {.enabled = true, .high_freq_cutoff = 0.22, .falloff = 0.03};
  config.fourier_crop = cropped;
  return config;
}

struct Grids {
  SmallSearch whole{limited_config(false)};
  SmallSearch cropped{limited_config(true)};
};

CropError error_of(const Grids& grids) {
  return crop_error(run_whole(grids.whole, 1, 4), run_whole(grids.cropped, 1, 4),
                    *grids.cropped.search.grid,
                    static_cast<int64_t>(grids.whole.search.space.units.size()));
}

TEST(CroppedSearch, CorrelatesAsTheWholeOneDoes) {
  Grids grids;
  ASSERT_TRUE(grids.cropped.search.grid);
  EXPECT_FALSE(grids.whole.search.grid);
  EXPECT_EQ(grids.cropped.search.problem.template_size, 10);
  // 72 x 90 pixels are no multiples of 16.
  EXPECT_EQ(grids.cropped.search.grid->padded_height, 80);
  EXPECT_EQ(grids.cropped.search.grid->padded_width, 96);
  const CropError error = error_of(grids);
  EXPECT_GT(error.rms, 0);
  // Of 1, the deviation of a correlation with noise. The template reaches the edges of its box.
  EXPECT_LT(error.rms, 0.12);
  EXPECT_LT(error.largest, 0.5);
  EXPECT_GT(error.peaks, 0);
  EXPECT_LT(std::abs(error.lower), 0.25);
}

TEST(CroppedSearch, DiffersLittleWhereTheTemplateEndsWithinItsBox) {
  constexpr int kSize = 32;
  Volume roomy{kSize, std::vector<float>(kSize * kSize * kSize)};
  for (int z = 0; z < kSmallTemplate; ++z) {
    for (int y = 0; y < kSmallTemplate; ++y) {
      for (int x = 0; x < kSmallTemplate; ++x) {
        roomy.voxels[static_cast<size_t>(((z + 8) * kSize + y + 8) * kSize + x + 8)] =
            blobs().voxels[static_cast<size_t>((z * kSmallTemplate + y) * kSmallTemplate + x)];
      }
    }
  }
  Grids grids;
  const Image micrograph =
      simulate(roomy, grids.whole.config.optics, {.height = 128, .width = 160, .seed = 5})
          .micrograph;
  for (SmallSearch* f : {&grids.whole, &grids.cropped}) {
    f->search = prepare_search(f->config, micrograph, roomy);
  }
  const SearchGrid& grid = *grids.cropped.search.grid;
  EXPECT_EQ(grid.template_size, 18);
  EXPECT_EQ(grid.padded_height, 128);
  EXPECT_EQ(grid.padded_width, 160);
  const CropError error = error_of(grids);
  EXPECT_LT(error.rms, 0.05);
  EXPECT_LT(std::abs(error.lower), 0.25);
}

TEST(CroppedSearch, GivesTheSameBitsForEveryNumberOfThreadsAndEveryBatch) {
  const SmallSearch f(limited_config(true));
  const Accumulators reference = run_whole(f, 1, 1);
  EXPECT_TRUE(same_bits(run_whole(f, 3, 5), reference));
  EXPECT_EQ(reference.height, f.search.grid->height - f.search.grid->template_size + 1);
}

TEST(CroppedSearch, HasASampleOnTheMicrographsOwnPixels) {
  const Grids grids;
  ASSERT_TRUE(grids.cropped.search.sample);
  const CropSample& sample = *grids.cropped.search.sample;
  const Problem& same = grids.whole.search.problem;
  EXPECT_EQ(sample.whole.volume_spectrum, same.volume_spectrum);
  EXPECT_EQ(sample.whole.filters, same.filters);
  EXPECT_EQ(sample.whole.template_size, same.template_size);
  EXPECT_EQ(sample.whole.height, 64);
  EXPECT_EQ(sample.whole.width, 80);
  EXPECT_EQ(sample.grid.height, 40);
  EXPECT_EQ(sample.image_spectrum.size(), 40u * 26);
  EXPECT_FALSE(grids.whole.search.sample);
}

std::string why_not(const SmallSearch& search, const std::string& checkpoint) {
  const auto backend = search.backend(1, 4);
  const std::atomic<bool> now = true;
  return refusal([&] { run_search(search.search, *backend, {.resume = checkpoint}, now); });
}

TEST(CroppedSearch, IsAnotherSearchThanTheWholeOne) {
  const Grids grids;
  const ScratchFolder folder;
  const std::atomic<bool> now = true;
  const auto stopped = [&](const SmallSearch& search, const std::string& name) {
    const auto backend = search.backend(1, 4);
    run_search(search.search, *backend, {.checkpoint = folder.file(name)}, now);
    return folder.file(name);
  };
  const std::string whole = stopped(grids.whole, "whole.ckpt");
  const std::string cropped = stopped(grids.cropped, "cropped.ckpt");
  EXPECT_THAT(why_not(grids.cropped, whole), testing::HasSubstr("differs in: fourier_crop."));
  EXPECT_THAT(why_not(grids.whole, cropped), testing::HasSubstr("differs in: fourier_crop."));
  EXPECT_EQ(why_not(grids.cropped, cropped), "");
}

TEST(CroppedSearch, ResumesToTheSameBits) {
  const SmallSearch f(limited_config(true));
  const ScratchFolder folder;
  const std::string path = folder.file("half.ckpt");
  const std::atomic<bool> now = true, never = false;
  auto backend = f.backend(1, 4);
  const RunResult half = run_search(f.search, *backend, {.checkpoint = path}, now);
  ASSERT_TRUE(half.stopped);
  ASSERT_GT(half.finished_units, 0);
  backend = f.backend(2, 3);
  const RunResult rest = run_search(f.search, *backend, {.resume = path}, never);
  EXPECT_EQ(rest.resumed_units, half.finished_units);
  EXPECT_TRUE(same_bits(rest.accumulators, run_whole(f, 1, 4)));
}

TEST(CroppedSearch, CorrelatesAsTheWholeOneWithAMagnificationAndOddZernikes) {
  SearchConfig config = limited_config(false);
  config.filters.bandpass = {.enabled = true, .high_freq_cutoff = 0.2};
  config.optics.mag_matrix = std::vector<double>{1.02, 0.01, 0.01, 0.99};
  config.optics.odd_zernikes = {{"Z31c", 0.4}};
  Grids grids{SmallSearch(config), SmallSearch(config)};
  config.fourier_crop = true;
  grids.cropped = SmallSearch(config);
  ASSERT_TRUE(grids.cropped.search.grid);
  const CropError error = error_of(grids);
  EXPECT_LT(error.rms, 0.15);
  EXPECT_LT(error.largest, 0.8);
}

TEST(CroppedSearch, WithoutALimitIsTheWholeSearch) {
  SearchConfig config = small_config();
  const SmallSearch plain(config);
  config.fourier_crop = true;
  const SmallSearch asked(config);
  EXPECT_FALSE(asked.search.grid);
  EXPECT_EQ(asked.search.identity.hash(), plain.search.identity.hash());
  EXPECT_TRUE(same_bits(run_whole(asked, 1, 4), run_whole(plain, 1, 4)));
}

TEST(CroppedSearch, IsPlannedWithTheMeasurementOfItsErrorAndItsMaps) {
  const ProblemShape whole{4096, 4096, 512, 1, 1000};
  const auto grid = choose_search_grid(whole.height, whole.width, whole.template_size, 0.24);
  ASSERT_TRUE(grid);
  EXPECT_EQ(on_grid(whole, grid).template_size, 256);
  const DeviceOptions options{.backend = "cpu", .threads = 1};
  DevicePlan plan = plan_device(on_grid(whole, grid), options);
  const uint64_t of_search = plan.bytes;
  add_crop_memory(plan, whole, *grid, options);
  // The template's spectrum on the micrograph's own pixels, and eight maps of these.
  EXPECT_GE(plan.bytes, uint64_t{4} * 512 * 512 * 512);
  EXPECT_GE(plan.bytes, uint64_t{32} * 3585 * 3585);
  ASSERT_GT(plan.bytes, of_search);
  EXPECT_EQ(plan.memory.back().name, "before and after the search");
  EXPECT_EQ(plan.memory.back().bytes, plan.bytes - of_search);
  // Much less than the whole search takes.
  EXPECT_LT(plan.bytes, plan_device(whole, options).bytes);
}

TEST(CropError, IsMeasuredWhereBothGridsHaveAPixel) {
  const SearchGrid grid{.to = 1, .of = 2};
  Accumulators whole(5, 5), cropped(3, 3);
  for (size_t i = 0; i < whole.best.size(); ++i) {
    whole.best[i] = pack_best(1.0f, static_cast<uint32_t>(i));
  }
  for (size_t i = 0; i < cropped.best.size(); ++i) cropped.best[i] = pack_best(1.0f, 0);
  whole.best[2 * 5 + 2] = pack_best(4.0f, 0);    // a peak
  cropped.best[1 * 3 + 1] = pack_best(3.0f, 0);  // at the same place
  const CropError error = crop_error(whole, cropped, grid, 16);
  EXPECT_EQ(error.units, 16);
  EXPECT_DOUBLE_EQ(error.largest, 1.0);
  EXPECT_DOUBLE_EQ(error.rms, 1.0 / 3);
  EXPECT_EQ(error.peaks, 1);
  EXPECT_DOUBLE_EQ(error.lower, 0.25);
  EXPECT_DOUBLE_EQ(error.lower_most, 0.25);
  EXPECT_EQ(
      describe_crop_error(error),
      "fourier_crop: over 16 units of this search, in the middle of the micrograph, the MIP "
      "differs by 0.33 rms and 1 at most, in deviations of the noise, where both grids have a "
      "pixel; its highest peaks (1) are 25.0 % lower in the mean and 25 % at most, as pixels lie "
      "farther apart: weak particles can be missed");
}

}  // namespace
}  // namespace engine
