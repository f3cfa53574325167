// What of the GPU's benchmark can be wrong without a GPU: rounds, floors, options, the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "base/json.h"
#include "bench/gpu_options.h"
#include "bench/gpu_report.h"
#include "bench/kernel_bytes.h"
#include "bench/noise.h"
#include "bench/rounds.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/error.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Rounds, AreSummedUpByTheirMedianAndTheirEnds) {
  const Spread odd = spread_of({3, 9, 1});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.smallest, 1);
  EXPECT_EQ(odd.largest, 9);
  EXPECT_EQ(spread_of({4, 1, 2, 9}).median, 3);
  EXPECT_THROW(spread_of({}), std::logic_error);
}

TEST(Rounds, AreComparedEachWithItsOwn) {
  // A clock that halves in the second round changes no ratio.
  const Spread ratio = ratio_of({30, 15, 36}, {10, 5, 10});
  EXPECT_EQ(ratio.median, 3);
  EXPECT_EQ(ratio.smallest, 3);
  EXPECT_DOUBLE_EQ(ratio.largest, 3.6);
  EXPECT_THROW(ratio_of({1, 2}, {1}), std::logic_error);
}

TEST(Rounds, LetEachSideGoFirstInTurn) {
  EXPECT_THAT(order_of_round(0, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(order_of_round(1, 3), ElementsAre(1, 2, 0));
  EXPECT_THAT(order_of_round(5, 3), ElementsAre(2, 0, 1));
}

TEST(Rounds, AreFilledWithWholeCallsWithinBounds) {
  EXPECT_EQ(calls_for(0.25, 0.1, 50), 3);
  EXPECT_EQ(calls_for(0.25, 4.0, 50), 1);
  EXPECT_EQ(calls_for(0.25, 1e-9, 50), 50);
  EXPECT_EQ(calls_for(0.25, 0.0, 50), 50);
}

Work small_work() {
  return {
      .height = 100, .width = 80, .n = 16, .planes = 3, .units = 5, .transforms = 15, .in_pass = 4};
}

double bytes(const std::string& kernel, const Work& work, int64_t launches = 1) {
  const auto known = kernel_bytes(kernel, work, launches);
  EXPECT_TRUE(known.has_value()) << kernel;
  return known.value_or(-1);
}

TEST(KernelBytes, OfALibraryTransformAreItsLinesInAndOut) {
  EXPECT_EQ(bytes("cuFFT's transform of 320 lines of 100", small_work(), 3),
            3.0 * 2 * 320 * 100 * 8);
  EXPECT_EQ(bytes("cuFFT's back-transform of 8 squares of 16", small_work(), 2),
            2.0 * 8 * (16 * 9 * 8 + 16 * 16 * 4));
}

TEST(KernelBytes, OfAPassCountWhatAllItsTransformsShareOnce) {
  const Work work = small_work();
  ASSERT_EQ(work.passes(), 4);
  // The image once for each pass, every correlation in and out.
  EXPECT_EQ(bytes("multiply_conjugate", work), (4.0 + 2 * 15) * 100 * 80 * 8);
  // 24 bytes of every valid pixel in and out for each pass.
  EXPECT_EQ(bytes("accumulate", work), 85.0 * 65 * (15 * 8 + 4 * 48));
}

TEST(KernelBytes, OfTheFusedKernelsFollowFromTheTilesAndTheStorage) {
  Work work = small_work();
  work.tiles = 2;
  work.row_length = 64;
  work.column_length = 128;
  work.kept_rows = 85;
  work.number_bytes = 4;
  EXPECT_EQ(bytes("transform_template_rows", work), 15.0 * (16 * 16 * 4 + 16 * 64 * 4));
  EXPECT_EQ(bytes("correlate_columns", work),
            15.0 * (16 * 64 * 4 + 2 * 85 * 64 * 4) + 4.0 * 2 * 64 * 128 * 4);
  EXPECT_EQ(bytes("finish_rows", work), 15.0 * 2 * 85 * 64 * 4 + 4.0 * 85 * 65 * 48);
}

TEST(KernelBytes, OfAnUnknownKernelAreNotGuessed) {
  EXPECT_FALSE(kernel_bytes("polish", small_work(), 1).has_value());
  EXPECT_FALSE(kernel_bytes("cuFFT's transform of everything", small_work(), 1).has_value());
}

TEST(GpuBenchOptions, AreTheUsualCasesUnlessOthersAreNamed) {
  const Options usual = parse_options({});
  ASSERT_EQ(usual.cases.size(), 4U);
  EXPECT_EQ(usual.cases[2].width, 5760);
  EXPECT_EQ(usual.cases[2].height, 4092);
  const Options one =
      parse_options({"--rounds", "3", "--case", "1024x512", "128", "--json", "out"});
  ASSERT_EQ(one.cases.size(), 1U);
  EXPECT_EQ(one.cases[0].width, 1024);
  EXPECT_EQ(one.cases[0].height, 512);
  EXPECT_EQ(one.cases[0].n, 128);
  EXPECT_EQ(one.rounds, 3);
  EXPECT_EQ(one.json, "out");
}

TEST(GpuBenchOptions, ThatAreWrongAreNamed) {
  const auto refusal = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse_options(arguments);
    } catch (const engine::UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({"--fast"}), HasSubstr("--fast"));
  EXPECT_THAT(refusal({"--side"}), HasSubstr("--side"));
  EXPECT_THAT(refusal({"--side", "fused"}), HasSubstr("cufft:fp32, fused:fp32, fused:fp16"));
  EXPECT_THAT(refusal({"--json"}), HasSubstr("--json"));
  EXPECT_THAT(refusal({"--rounds", "0"}), HasSubstr("--rounds"));
  EXPECT_THAT(refusal({"--case", "512x512", "1024"}), HasSubstr("1024"));
  EXPECT_THAT(refusal({"--case", "512", "128"}), HasSubstr("512"));
  EXPECT_THAT(refusal({"--case", "512x512", "127"}), HasSubstr("127"));
}

TEST(GpuBenchOptions, AreAllSidesUnlessSomeAreNamed) {
  ASSERT_EQ(parse_options({}).sides.size(), 3U);
  EXPECT_EQ(parse_options({}).sides[0].fft, "cufft");
  const Options one = parse_options({"--side", "fused:fp32"});
  ASSERT_EQ(one.sides.size(), 1U);
  EXPECT_EQ(one.sides[0].fft, "fused");
  EXPECT_EQ(one.sides[0].precision, "fp32");
  EXPECT_EQ(parse_options({"--side", "fused:fp16", "--side", "cufft:fp32"}).sides.size(), 2U);
  EXPECT_FALSE(one.facts);
  EXPECT_TRUE(parse_options({"--facts"}).facts);
}

TEST(GpuBenchOptions, MayChooseHowASideCorrelatesColumns) {
  using enum engine::cuda::ColumnGrid;
  using enum engine::cuda::ColumnKernel;
  const auto columns_of = [](const std::string& side) {
    return parse_options({"--side", side}).sides.at(0).columns;
  };
  EXPECT_FALSE(columns_of("fused:fp32").grid);
  EXPECT_FALSE(columns_of("fused:fp32").columns);
  EXPECT_EQ(columns_of("fused:fp32:chunks-first:in-three").grid, kChunksFirst);
  EXPECT_EQ(columns_of("fused:fp32:chunks-first:in-three").columns, kInThree);
  EXPECT_EQ(columns_of("fused:fp16:in-two:transforms-first").grid, kTransformsFirst);
  EXPECT_EQ(columns_of("fused:fp16:in-two").columns, kInTwo);
  EXPECT_FALSE(columns_of("fused:fp16:in-two").grid);
  EXPECT_EQ(columns_of("fused:fp16:rows-ahead").rows_ahead, true);
  EXPECT_EQ(columns_of("fused:fp16:in-two:rows-in-turn").rows_ahead, false);
  EXPECT_FALSE(columns_of("fused:fp16").rows_ahead);
  EXPECT_EQ(words_of({kChunksFirst, kInTwo, true}), "chunks-first in-two rows-ahead");
  EXPECT_EQ(words_of({.columns = kInThree}), "in-three");
  EXPECT_EQ(words_of({}), "");
}

TEST(GpuBenchOptions, NameTheWordOfASideThatIsWrong) {
  const auto refusal = [](const std::string& side) -> std::string {
    try {
      parse_options({"--side", side});
    } catch (const engine::UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("fused:fp32:in-four"),
            "--side: 'in-four' is none of transforms-first, chunks-first, in-two, in-three, "
            "rows-ahead, rows-in-turn");
  EXPECT_EQ(refusal("fused:fp32:"),
            "--side: '' is none of transforms-first, chunks-first, in-two, in-three, "
            "rows-ahead, rows-in-turn");
  EXPECT_EQ(refusal("fused:fp32:in-two:in-three"),
            "--side: 'in-three' comes after its alternative");
  EXPECT_THAT(refusal("cufft:fp32:in-two"), HasSubstr("'in-two' is for the fused path"));
  EXPECT_THAT(refusal("fused:fp8:in-two"), HasSubstr("'fused:fp8' is none of"));
}

// Its statistics before the rounds are those of a long search: hardly a pixel has a new maximum.
TEST(Noise, IsTheSpectrumOfRealNumbers) {
  constexpr size_t kHeight = 96;
  constexpr size_t kColumns = 41;
  const Noise noise({.height = kHeight, .width = 80, .n = 16});
  const auto& spectrum = noise.problem().image_spectrum;
  ASSERT_EQ(spectrum.size(), kHeight * kColumns);
  for (const size_t column : {size_t{0}, kColumns - 1}) {
    for (size_t row = 0; row < kHeight; ++row) {
      const size_t other = (kHeight - row) % kHeight;
      EXPECT_EQ(spectrum[row * kColumns + column], std::conj(spectrum[other * kColumns + column]));
    }
  }
}

TEST(Noise, CorrelatesWithDeviationOneAndAfterAMillionSeldomHasANewMaximum) {
  const Noise noise({.height = 96, .width = 80, .n = 16});
  const auto backend = engine::cpu::make_cpu_backend(
      noise.problem(), engine::cpu::plan_memory(noise.shape(), {.threads = 1}));
  const auto units = noise.units().first(12);
  const int64_t correlations = 2 * 12 * noise.problem().planes();
  backend->correlate(units);
  const engine::Accumulators fresh = backend->accumulators();
  double variance = 0;
  for (size_t i = 0; i < fresh.sum.size(); ++i) {
    variance += std::pow(engine::moments(fresh.sum[i], fresh.squares[i], correlations).sd, 2) /
                static_cast<double>(fresh.sum.size());
  }
  EXPECT_NEAR(variance, 1, 0.1);

  const engine::Accumulators seed = noise.after_a_million();
  backend->restore(seed);
  backend->correlate(units);
  const engine::Accumulators later = backend->accumulators();
  size_t changed = 0;
  for (size_t i = 0; i < seed.best.size(); ++i) changed += later.best[i] != seed.best[i] ? 1 : 0;
  // Each pixel has a chance of 264 in a million.
  EXPECT_LT(changed, seed.best.size() / 200);
  const auto middle = seed.sum.size() / 2;
  const engine::Moments moments =
      engine::moments(later.sum[middle], later.squares[middle], 1'000'000 + correlations);
  EXPECT_NEAR(moments.sd, 1, 1e-3);
  EXPECT_LT(engine::best_value(seed.best[middle]), 5);
}

Report report() {
  Side base{.fft = "cufft", .precision = "fp32"};
  base.correlations = 100;
  base.rates = {1000, 1000, 2000};
  base.kernels = {{.name = "accumulate", .launches = 4, .seconds = 0.01, .bytes = 2e7}};
  Side fused = base;
  fused.fft = "fused";
  fused.rates = {3000, 3000, 8000};
  fused.mip_rms = 1e-6;
  fused.kernels = {{.name = "polish", .launches = 2, .seconds = 0.002, .bytes = {}}};
  Side none{.fft = "fused", .precision = "fp16", .refused = "this build has no kernels for it"};
  Report r{.device = "a device", .versions = {{"cufft", "12.0.0"}}, .copy_bytes_per_second = 4e12};
  r.cases = {{.height = 500, .width = 1000, .n = 128, .planes = 11, .sides = {base, fused, none}}};
  return r;
}

TEST(GpuReport, HasTheFiguresOfEverySideAndItsRatioToTheFirst) {
  const auto json = nlohmann::json::parse(report_json(report()));
  EXPECT_EQ(json["versions"]["cufft"], "12.0.0");
  EXPECT_DOUBLE_EQ(json["copy_gigabytes_per_second"].get<double>(), 4000.0);
  const auto& sides = json["cases"][0]["sides"];
  ASSERT_EQ(sides.size(), 3U);
  EXPECT_EQ(sides[0]["correlations_per_second"]["median"], 1000.0);
  EXPECT_DOUBLE_EQ(sides[1]["gpix_per_second"]["largest"].get<double>(), 4.0);
  EXPECT_EQ(sides[1]["ratio_to_cufft"]["median"], 3.0);
  EXPECT_EQ(sides[1]["ratio_to_cufft"]["largest"], 4.0);
  EXPECT_EQ(sides[1]["mip_rms_from_cufft"], 1e-6);
  EXPECT_EQ(sides[0]["launches_per_correlation"], 0.04);
}

TEST(GpuReport, TellsSidesApartByTheirColumns) {
  Report r = report();
  r.cases[0].sides[1].columns = "chunks-first in-three";
  r.cases[0].sides[1].mip_rms = 1;
  const auto json = nlohmann::json::parse(report_json(r));
  EXPECT_EQ(json["cases"][0]["sides"][1]["columns"], "chunks-first in-three");
  EXPECT_FALSE(json["cases"][0]["sides"][0].contains("columns"));
  EXPECT_THAT(case_table(r.cases[0], 4e12), HasSubstr("  fused fp32 chunks-first in-three "));
  EXPECT_THAT(complaints(r)[0], HasSubstr("fused fp32 chunks-first in-three: the MIP's rms"));
}

TEST(GpuReport, OfOneSideHasNoRatio) {
  Report r = report();
  r.cases[0].sides = {r.cases[0].sides[1]};
  r.cases[0].sides[0].mip_rms.reset();
  const auto json = nlohmann::json::parse(report_json(r));
  EXPECT_FALSE(json["cases"][0]["sides"][0].contains("ratio_to_fused"));
}

TEST(GpuReport, HasWhatTheDeviceSaysOfItself) {
  Report r = report();
  r.properties = {{"l2CacheSize", 62914560}, {"multiProcessorCount", 132}};
  const auto json = nlohmann::json::parse(report_json(r));
  EXPECT_EQ(json["properties"]["l2CacheSize"], 62914560);
  EXPECT_THAT(report_head(r), HasSubstr("L2 of 62.9 MB"));
}

TEST(GpuReport, PutsTheFloorBesideTheTimeWhereItIsKnown) {
  const auto json = nlohmann::json::parse(report_json(report()));
  const auto& known = json["cases"][0]["sides"][0]["kernels"][0];
  EXPECT_DOUBLE_EQ(known["microseconds_per_correlation"].get<double>(), 100.0);
  EXPECT_DOUBLE_EQ(known["floor_microseconds_per_correlation"].get<double>(), 0.05);
  EXPECT_DOUBLE_EQ(known["floor_over_time"].get<double>(), 5e-4);
  const auto& unknown = json["cases"][0]["sides"][1]["kernels"][0];
  EXPECT_FALSE(unknown.contains("floor_over_time"));
}

TEST(GpuReport, ComplainsOfSidesThatDidNotRunOrWhoseMapsAreWrong) {
  Report r = report();
  ASSERT_EQ(complaints(r).size(), 1U);
  EXPECT_THAT(complaints(r)[0], HasSubstr("fused fp16: did not run: this build has no kernels"));
  Side& fused = r.cases[0].sides[1];
  fused.mip_rms = 2e-4;
  ASSERT_EQ(complaints(r).size(), 2U);
  EXPECT_THAT(complaints(r)[0], HasSubstr("fused fp32: the MIP's rms"));
  fused.precision = "fp16";
  EXPECT_EQ(complaints(r).size(), 1U);
  fused.mip_rms = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(complaints(r).size(), 2U);
}

TEST(GpuReport, SaysWhyASideCouldNotRun) {
  const auto json = nlohmann::json::parse(report_json(report()));
  EXPECT_EQ(json["cases"][0]["sides"][2]["refused"], "this build has no kernels for it");
  EXPECT_FALSE(json["cases"][0]["sides"][2].contains("correlations_per_second"));
  const Report r = report();
  const std::string table = case_table(r.cases[0], r.copy_bytes_per_second);
  EXPECT_THAT(table, HasSubstr("this build has no kernels for it"));
  EXPECT_THAT(table, HasSubstr("3000.0 CC/s (3000.0 to 8000.0)"));
  EXPECT_THAT(table, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace bench
