// The fused path on the CPU: its sums, its transforms in fp16, and whole searches.
#include "tests/fakes/half_words.h"
#include "tests/fakes/simt_device.h"
//
#include <array>
#include <map>
#include <numbers>
#include <span>
#include <string>

#include "tests/unit/engine/cuda/fused/fused_cases.h"
#include "tests/unit/engine/cuda/fused/half_cases.h"

namespace tests {
namespace {

struct OnCpu {
  using Device = SimtDevice;
  static bool large_cases() { return false; }
  static std::string missing() { return ""; }
  static std::unique_ptr<Device> make() {
    static uint64_t seed = 1;
    return std::make_unique<Device>(seed += 1000);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaFused, OnCpu);
INSTANTIATE_TYPED_TEST_SUITE_P(OnTheCpu, CudaFusedHalves, OnCpu);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaSearch);

TEST(CudaStatistics, AreRoundedAlikeInSingleAndInDouble) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1);
  for (int round = 0; round < 20000; ++round) {
    // The largest that fit; ties of the rounding of sums, and of squares; and noise.
    float u = round % 4 == 0 ? 7.15f : normal(random);
    if (round % 4 == 1) u = std::ldexp(std::round(u * 64), -6) + 0x1p-21f;
    if (round % 4 == 2) u = std::ldexp(std::round(u * 128) * 2 + 1, -8);
    const float v = round % 3 == 0 ? 0 : round % 3 == 1 ? -u / 2 : u / 2;
    cuda::PixelStatistics fast;
    cuda::PixelStatistics wide;
    ASSERT_TRUE(cuda::magic_fits(cuda::square_with_magic(u, v))) << u << " " << v;
    fast.add_sums(u, v);
    wide.add_large(u, v);
    ASSERT_EQ(fast.sum, wide.sum) << u << " " << v;
    ASSERT_EQ(fast.squares, wide.squares) << u << " " << v;
  }
}

TEST(CudaStatistics, AreNotAddedInSingleBeyondItsRange) {
  const auto fits = [](float u, float v) {
    return cuda::magic_fits(cuda::square_with_magic(u, v));
  };
  EXPECT_TRUE(fits(7.99f, 0));
  EXPECT_FALSE(fits(8, 0));
  EXPECT_TRUE(fits(-5.65f, -5.65f));
  EXPECT_FALSE(fits(5.66f, 5.66f));
  EXPECT_FALSE(fits(1e30f, 0));
  EXPECT_FALSE(fits(NAN, 0));
  EXPECT_FALSE(fits(0, -NAN));
  EXPECT_FALSE(fits(INFINITY, -INFINITY));
}

TEST(CudaFusedRows, OfALineAreEachInOneLaneOnce) {
  using Half = cuda::HalfArithmetic;
  for (const int step : {16, 24, 144}) {
    const cuda::FusedShape shape{.lane_step = step};
    for (const int count : {1, step, step + 3, 2 * step, 2 * step + 1, 4 * step - 1}) {
      std::vector<int> times(static_cast<size_t>(count));
      const int lines = shape.lines<Half>(count);
      for (int line = 0; line < lines; ++line) {
        const int lanes = shape.lanes_below<Half>(line, count);
        EXPECT_GE(lanes, 1) << "a line with nothing in it";
        for (int lane = 0; lane < lanes; ++lane) {
          ++times.at(static_cast<size_t>(shape.row<Half>(line, lane)));
        }
      }
      EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << step << " " << count;
    }
  }
}

TEST(CudaHalfPoints, ConstantsAndRootsAreRoundedOnce) {
  for (const double value : {0.0, -1.0, 0.5, -0.8660254037844386, 0.92387953251128674, 3e-5, 6e-8,
                             2.9e-8, 65504.0, 1 - 0x1p-12, -(0.25 + 0x1p-13), 0.25 + 0x3p-13}) {
    const cuda::RoundedToHalf rounded(value);
    EXPECT_EQ(rounded.bits, simt::half_bits(value)) << value;
    EXPECT_EQ(rounded.value, double{simt::half_value(simt::half_bits(value))}) << value;
  }
  const std::vector<cuda::HalfRoot> roots = cuda::make_roots<288, cuda::HalfRoot>();
  const int at = cuda::FftOrder<288>::root(0, 31, 3);
  const cuda::HalfPoint root = cuda::load_root(&roots.at(static_cast<size_t>(at)));
  const double angle = -2 * std::numbers::pi * 31 * 3 / 288;
  EXPECT_EQ(root.x.bits, simt::half_bits(std::cos(angle)) * 0x10001u);
  EXPECT_EQ(root.y.bits, simt::half_bits(std::sin(angle)) * 0x10001u);
}

TEST(CudaHalfPoints, TheGainOfATransformIsThatOfItsRoundedConstants) {
  EXPECT_EQ(cuda::gain_of_points<4>(), 1);
  // Of the 16 products of sixteen points 8 are with 1 or i, 4 with each of these:
  const auto gain = [](double turn) {
    const double angle = 2 * std::numbers::pi * turn;
    return std::cos(angle) * cuda::RoundedToHalf(std::cos(angle)).value +
           std::sin(angle) * cuda::RoundedToHalf(std::sin(angle)).value;
  };
  const double sixteen = (8 + 4 * gain(1.0 / 16) + 4 * gain(1.0 / 8)) / 16;
  EXPECT_NEAR(cuda::gain_of_points<16>(), sixteen, 1e-12);
  EXPECT_LT(sixteen, 1 - 3e-5);
}

template <int kPoints>
void expect_inverse_of_two_lines() {
  std::mt19937 random(kPoints);
  std::normal_distribution<float> normal;
  std::array<float2, kPoints> in[2];
  cuda::HalfPoint x[kPoints];
  for (size_t i = 0; i < kPoints; ++i) {
    for (auto& line : in) {
      const float2 drawn{normal(random), normal(random)};
      line[i] = __half22float2(__floats2half2_rn(drawn.x, drawn.y));
    }
    x[i] = cuda::narrowed(in[0][i], in[1][i]);
  }
  double worst = 0;
  int points = 0;
  cuda::finish_inverse<kPoints>(x, [&](auto k, auto& first, auto& second) {
    constexpr int kEvery = kPoints / cuda::kGroup<kPoints>;
    for (int j = 0; j < cuda::kGroup<kPoints>; ++j, ++points) {
      for (int line = 0; line < 2; ++line) {
        std::complex<double> sum = 0;
        for (int i = 0; i < kPoints; ++i) {
          const float2 value = in[line][static_cast<size_t>(i)];
          sum += std::complex<double>(value.x, value.y) *
                 std::polar(1.0, 2 * std::numbers::pi * i * (k + j * kEvery) / kPoints);
        }
        const float2 got = line == 0 ? first[j] : second[j];
        worst = std::max(worst, std::abs(sum - std::complex<double>(got.x, got.y)));
      }
    }
  });
  EXPECT_EQ(points, kPoints);
  EXPECT_LT(worst / std::sqrt(kPoints), 2e-3) << kPoints;
}

TEST(CudaHalfPoints, TheLastStageGivesBothLinesInSinglePrecision) {
  expect_inverse_of_two_lines<4>();
  expect_inverse_of_two_lines<8>();
  expect_inverse_of_two_lines<16>();
}

// One chunk of columns, two tiles: the largest error of the kept rows, in deviations of the
// correlation, against a plain sum in double.
template <int kLength, cuda::ColumnKernel kKernel>
double error_of_columns(int n) {
  using Storage = cuda::SingleStorage;
  using Wide = std::complex<double>;
  constexpr int kColumns = Storage::kColumns;
  constexpr bool kInTwo = kKernel == cuda::ColumnKernel::kInTwo;
  const cuda::FusedShape shape{.n = n,
                               .columns = kColumns,
                               .rows = kLength,
                               .tiles = 2,
                               .valid_rows = kLength - n + 1,
                               .transforms = 1,
                               .lane_step = cuda::column_step<kLength>(kKernel)};
  std::vector<float2> rows, spectra;
  for (const Complex v : random_complex(shape.template_size<Storage>(), 1)) {
    rows.push_back({v.real(), v.imag()});
  }
  for (const Complex v : random_complex(2 * shape.spectrum_size<Storage>(), 2)) {
    spectra.push_back({v.real(), v.imag()});
  }
  std::vector<float2> exchange(2 * shape.exchange_tile<Storage>());
  const std::vector<float2> roots = [] {
    if constexpr (kInTwo) return cuda::make_roots_in_two<kLength>();
    if constexpr (!kInTwo) return cuda::make_roots<kLength>();
  }();
  const cuda::FusedArrays<Storage> arrays{rows.data(), spectra.data(), exchange.data(), nullptr,
                                          roots.data()};
  if constexpr (kInTwo) {
    using Layout = cuda::InTwo<kLength, Storage>;
    simt::launch(
        cuda::correlate_columns_in_two<kLength, Layout::kRadix / 4, Layout::kRadix, Storage>, 1,
        Layout::kThreads, Layout::kSharedBytes, shape, false, arrays);
  } else {
    using Fft = cuda::ColumnFft<kLength, Storage>;
    simt::launch(cuda::correlate_columns<kLength, Fft::kFirst / 4, Fft::kFirst, Storage>, 1,
                 Fft::kThreads, cuda::columns_shared<kLength, Storage>(), shape, false, arrays);
  }

  const std::vector<int> frequencies =
      cuda::frequencies_of_rows(kLength, kKernel, cuda::LengthList<kLength>{});
  std::vector<Wide> turns;
  for (int i = 0; i < kLength; ++i) {
    turns.push_back(std::polar(1.0, 2 * std::numbers::pi * i / kLength));
  }
  const auto turn = [&](int64_t i) { return turns[static_cast<size_t>(i % kLength)]; };
  const auto wide = [](float2 v) { return Wide(v.x, v.y); };
  double worst = 0;
  for (int column = 0; column < kColumns; ++column) {
    std::vector<Wide> transformed;
    for (const int frequency : frequencies) {
      Wide sum = 0;
      for (int row = 0; row < n; ++row) {
        sum += wide(rows[shape.template_place<Storage>(0, row, column)]) *
               std::conj(turn(int64_t{row} * frequency));
      }
      transformed.push_back(sum);
    }
    for (int tile = 0; tile < 2; ++tile) {
      for (int row = 0; row < shape.valid_rows; row += 37) {
        Wide sum = 0;
        for (size_t i = 0; i < frequencies.size(); ++i) {
          const size_t at = static_cast<size_t>(tile) * shape.spectrum_size<Storage>() +
                            i * kColumns + static_cast<size_t>(column);
          sum +=
              wide(spectra[at]) * std::conj(transformed[i]) * turn(int64_t{row} * frequencies[i]);
        }
        const float2 got = exchange[shape.exchange_place<Storage>(tile, 0, row, column)];
        // Real and imaginary parts of noise, of deviation 1 each.
        worst = std::max(worst, std::abs(sum - wide(got)) / (2 * std::sqrt(double{kLength} * n)));
      }
    }
  }
  return worst;
}

TEST(CudaFusedColumns, AreCorrelatedInTwoStagesAsInThree) {
  using enum cuda::ColumnKernel;
  EXPECT_LT((error_of_columns<64, kInThree>(16)), 1e-6);
  EXPECT_LT((error_of_columns<64, kInTwo>(16)), 1e-6);
  EXPECT_LT((error_of_columns<2304, kInThree>(512)), 1e-6);
  EXPECT_LT((error_of_columns<2304, kInTwo>(512)), 1e-6);
}

// What the kernels move through memory, against what the plan of the search says that they need.
template <typename Path>
void expect_bytes_of_the_plan(bool rows_ahead) {
  // 48 rows are kept: whole chunks of lines.
  const engine::Search search =
      search_of({.name = "", .height = 63, .width = 110, .n = 16, .planes = 3});
  cuda::MemoryPlan plan = cuda::plan_memory(shape_of(search.problem), 4);
  plan.fused = Path::plan(shape_of(search.problem));
  plan.fused->columns = Path::kColumns;
  plan.fused->rows_ahead = rows_ahead;
  cuda::DeviceBackend<SimtDevice, Path::template Correlator> backend(std::make_unique<SimtDevice>(),
                                                                     search.problem, plan);
  simt::Traffic& traffic = simt::traffic;
  traffic.read_once = traffic.read_from_l2 = traffic.written_once = 0;
  const std::span<const engine::Unit> units(search.space.units);
  backend.correlate(units.first(4));
  const auto transforms = static_cast<uint64_t>(
      engine::list_transforms(units.first(4), search.problem.planes(), 1000000).size());
  ASSERT_GT(transforms, 4u);
  std::map<std::string, uint64_t> bytes;
  for (const engine::MemoryItem& item : plan.fused->items) bytes[item.name] = item.bytes;
  const auto in_pass = static_cast<uint64_t>(plan.fused->transforms);
  const uint64_t exchange = bytes.at("correlations on their way") / in_pass * transforms;
  EXPECT_EQ(traffic.written_once, exchange);
  EXPECT_EQ(traffic.read_once, exchange + bytes.at("template rows") / in_pass * transforms);
  EXPECT_EQ(traffic.read_from_l2, bytes.at("tile spectra") * transforms);
}

TEST(CudaFusedTraffic, IsThatOfThePlan) {
  using Single = cuda::SingleStorage;
  using Half = cuda::HalfArithmetic;
  for (const bool rows_ahead : {false, true}) {
    expect_bytes_of_the_plan<Fused<Single, 64>>(rows_ahead);
    expect_bytes_of_the_plan<FusedInTwo<Single, 64>>(rows_ahead);
    expect_bytes_of_the_plan<FusedInTwo<Half, 64>>(rows_ahead);
  }
}

template <typename Storage>
size_t largest_shared_memory() {
  size_t largest = 0;
  for (const int each : cuda::FusedLengths::kLengths) {
    cuda::FusedLengths::with(each, [&](auto length) {
      largest = std::max({largest, cuda::template_rows_shared<length, Storage>(),
                          cuda::columns_shared<length, Storage>(),
                          cuda::last_rows_shared<length, Storage>()});
    });
  }
  return largest;
}

TEST(CudaFusedKernels, FitIntoTheSharedMemoryOfAnA100) {
  EXPECT_LE(largest_shared_memory<cuda::SingleStorage>(), 163u * 1024);
  EXPECT_LE(largest_shared_memory<cuda::HalfArithmetic>(), 163u * 1024);
}

TEST(CudaFusedKernels, ReadRowsAheadWhereThatCostsNoBlock) {
  using Single = cuda::SingleStorage;
  using Half = cuda::HalfArithmetic;
  const auto reads_ahead = []<int kLength, typename Storage>(cuda::Index<kLength>, Storage) {
    constexpr int kKept = cuda::points_usually_kept(cuda::FftOrder<kLength>::radix(0));
    return cuda::kReadsAhead<kLength, kKept, Storage>;
  };
  EXPECT_TRUE(reads_ahead(cuda::Index<2304>{}, Single{}));
  EXPECT_TRUE(reads_ahead(cuda::Index<2304>{}, Half{}));
  EXPECT_TRUE(reads_ahead(cuda::Index<4096>{}, Single{}));
  EXPECT_FALSE(reads_ahead(cuda::Index<4096>{}, Half{}));
}

}  // namespace
}  // namespace tests
