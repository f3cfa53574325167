// Small searches by the fused path, against the CPU backend: several tiles, images that are
// not square, every way in which projections share transforms.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/unit/engine/cuda/fused/fused_searches.h"

namespace tests {

TYPED_TEST_SUITE_P(CudaFused);

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpu) {
  using Single = cuda::SingleStorage;
  using F = CudaFused<TypeParam>;
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "one tile", .height = 50, .width = 60, .n = 16, .planes = 2}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "many tiles", .height = 117, .width = 186, .n = 16}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64, 96>>(
      {.name = "two lengths", .height = 90, .width = 120, .n = 20, .planes = 3}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64>>(
      {.name = "a template that nearly fills it", .height = 66, .width = 65, .n = 58}, 3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 64, 96>>({.name = "single orientations",
                                                             .height = 81,
                                                             .width = 70,
                                                             .n = 16,
                                                             .planes = 3,
                                                             .paired = false},
                                                            3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 96>>({.name = "one correlation in a transform",
                                                         .height = 100,
                                                         .width = 90,
                                                         .n = 34,
                                                         .paired = false,
                                                         .magnified = true,
                                                         .complex_filters = true},
                                                        3e-6);
  F::template expect_maps_of_the_cpu<Fused<Single, 288>>(
      {.name = "a radix of nine", .height = 330, .width = 290, .n = 40}, 3e-6);
}

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpuWithColumnsInTwoStages) {
  using Single = FusedInTwo<cuda::SingleStorage, 64>;
  using Half = FusedInTwo<cuda::HalfArithmetic, 64>;
  using F = CudaFused<TypeParam>;
  const auto expect = [](const SearchCase& c) {
    F::template expect_maps_of_the_cpu<Single>(c, 3e-6);
    F::template expect_maps_of_the_cpu<Half>(c, 5e-3, 3);
  };
  expect({.name = "a quarter of the length", .height = 117, .width = 90, .n = 16, .planes = 2});
  expect({.name = "half of it", .height = 80, .width = 70, .n = 30, .paired = false});
  expect({.name = "nearly all of it", .height = 66, .width = 65, .n = 58});
  F::template expect_maps_of_the_cpu<FusedInTwo<cuda::SingleStorage, 64, 96>>(
      {.name = "rows of another length", .height = 50, .width = 90, .n = 20}, 3e-6);
}

TYPED_TEST_P(CudaFused, GivesTheMapsOfTheCpuForSizesAtRandom) {
  const auto cases =
      TypeParam::large_cases() ? cases_at_random(33, 12, 700, 60) : cases_at_random(34, 3, 150, 30);
  for (const SearchCase& c : cases) {
    SCOPED_TRACE(text_of(c));
    this->template expect_maps_of_the_cpu<Fused<cuda::SingleStorage, 64, 96>>(c, 3e-6);
    this->template expect_maps_of_the_cpu<Fused<cuda::HalfArithmetic, 64>>(c, 5e-3, 3);
  }
}

TYPED_TEST_P(CudaFused, GivesTheSameBitsForEveryBatchAndEveryOrder) {
  using Single = Fused<cuda::SingleStorage, 64>;
  using Half = Fused<cuda::HalfArithmetic, 64>;
  constexpr size_t kUnits = 20;
  for (const bool paired : {true, false}) {
    const engine::Search search = search_of({.name = "",
                                             .height = 70,
                                             .width = 60,
                                             .n = 16,
                                             .planes = paired ? 1 : 3,
                                             .paired = paired});
    const auto bits = [&]<typename Path>(Path, int batch) {
      return this->maps(*this->template backend<Path>(search, batch), search, kUnits);
    };
    const engine::Accumulators expected = bits(Single{}, 1);
    EXPECT_TRUE(same_bits(bits(Single{}, 7), expected));
    EXPECT_TRUE(same_bits(bits(Single{}, 64), expected));
    EXPECT_TRUE(same_bits(bits(Half{}, 64), bits(Half{}, 3)));
    const auto chunks_first =
        this->template backend<Single>(search, 7, cuda::ColumnGrid::kChunksFirst);
    EXPECT_TRUE(same_bits(this->maps(*chunks_first, search, kUnits), expected));
    const auto bits_ahead = [&]<typename Path>(Path, int batch) {
      const auto ahead = this->template backend<Path>(
          search, batch, cuda::ColumnGrid::kTransformsFirst, Path::kColumns, true);
      return this->maps(*ahead, search, kUnits);
    };
    EXPECT_TRUE(same_bits(bits_ahead(Single{}, 7), expected));
    EXPECT_TRUE(same_bits(bits_ahead(Half{}, 64), bits(Half{}, 3)));
    using InTwo = FusedInTwo<cuda::SingleStorage, 64>;
    EXPECT_TRUE(same_bits(bits(InTwo{}, 2), bits(InTwo{}, 64)));
    std::vector<engine::Unit> units(search.space.units.begin(),
                                    search.space.units.begin() + kUnits);
    std::shuffle(units.begin(), units.end(), std::mt19937(5));
    const auto backend = this->template backend<Single>(search, 4);
    const std::span<const engine::Unit> all(units);
    backend->correlate(all.subspan(0, 5));
    backend->correlate(all.subspan(5));
    EXPECT_TRUE(same_bits(backend->accumulators(), expected)) << "in another order";
  }
}

TYPED_TEST_P(CudaFused, CountsWhatIsTooLargeForTheFastSums) {
  engine::Search search = search_of({.name = "", .height = 70, .width = 76, .n = 16, .planes = 2});
  for (std::complex<float>& value : search.problem.image_spectrum) value *= 60.0f;
  const engine::Accumulators expected = run_on_cpu(search);
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  const engine::Accumulators found = run_on(*backend, search);
  const Deviations d = deviations(found, expected, search.space.correlations());
  const float largest =
      engine::best_value(*std::max_element(expected.best.begin(), expected.best.end()));
  EXPECT_GT(largest * largest, cuda::kMagicLimit);
  EXPECT_LT(d.mip, 6e-4);
  EXPECT_LT(d.mean, 6e-4);
  EXPECT_LT(d.sd, 6e-4);
}

TYPED_TEST_P(CudaFused, EndsWithThePixelNamedWhenASumLeavesItsRange) {
  const engine::Search search = search_of({.name = "", .height = 70, .width = 76, .n = 16});
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  engine::Accumulators full = backend->accumulators();
  full.squares[51 * static_cast<size_t>(full.width) + 7] =
      static_cast<int64_t>(engine::kSquareLimit) - 1;
  backend->restore(full);
  backend->correlate(search.space.units);
  try {
    backend->accumulators();
    FAIL() << "an overflow went unnoticed";
  } catch (const engine::InputError& e) {
    EXPECT_NE(std::string(e.what()).find("row 51, column 7"), std::string::npos) << e.what();
  }
}

TYPED_TEST_P(CudaFused, EndsWhenAValueIsNoNumber) {
  engine::Search search = search_of({.name = "", .height = 60, .width = 60, .n = 16});
  search.problem.image_spectrum[5] = {NAN, 0};
  const auto backend = this->template backend<Fused<cuda::SingleStorage, 64>>(search, 4);
  backend->correlate(search.space.units);
  EXPECT_THROW(backend->accumulators(), engine::InputError);
}

REGISTER_TYPED_TEST_SUITE_P(CudaFused, GivesTheMapsOfTheCpu,
                            GivesTheMapsOfTheCpuWithColumnsInTwoStages,
                            GivesTheMapsOfTheCpuForSizesAtRandom,
                            GivesTheSameBitsForEveryBatchAndEveryOrder,
                            CountsWhatIsTooLargeForTheFastSums,
                            EndsWithThePixelNamedWhenASumLeavesItsRange, EndsWhenAValueIsNoNumber);

}  // namespace tests
