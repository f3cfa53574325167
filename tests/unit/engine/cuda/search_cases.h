// Whole small searches by the path with library transforms, against the CPU backend.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>

#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/device_backend.h"
#include "engine/cuda/plane_correlator.h"
#include "engine/error.h"
#include "engine/search/search.h"
#include "tests/unit/engine/cuda/cases.h"

namespace tests {

namespace cuda = engine::cuda;

struct SearchCase {
  const char* name;
  int height, width, n;
  int planes = 1;
  bool paired = true;
  bool magnified = false;
  bool complex_filters = false;
};

inline engine::SearchConfig config_of(const SearchCase& c) {
  engine::SearchConfig config;
  config.path = "test.yaml";
  config.optics = {.label = "test",
                   .pixel_size = 4.0,
                   .voltage = 300,
                   .defocus_u = 9000,
                   .defocus_v = 8800,
                   .astigmatism_angle = 20};
  if (c.magnified) config.optics.mag_matrix = {1.01, 0.008, -0.006, 0.985};
  if (c.complex_filters) config.optics.odd_zernikes = {{"Z31c", 0.4}, {"Z33s", -0.2}};
  config.defocus = {.min = 0, .max = 400.0 * (c.planes - 1), .step = 400};
  config.orientations = {{.psi_step = 60, .theta_step = 75}};
  return config;
}

inline std::string text_of(const SearchCase& c) {
  return std::string(c.name) + ": " + std::to_string(c.height) + " x " + std::to_string(c.width) +
         ", template " + std::to_string(c.n) + ", planes " + std::to_string(c.planes) +
         (c.paired ? "" : ", single orientations");
}

// Images of up to `most` pixels a side, templates of up to `most_n` and the image less two.
inline std::vector<SearchCase> cases_at_random(unsigned seed, int count, int most, int most_n) {
  std::mt19937 random(seed);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  std::vector<SearchCase> out;
  for (int i = 0; i < count; ++i) {
    const int n = 2 * between(5, most_n / 2);
    out.push_back({.name = "at random",
                   .height = between(n + 2, most),
                   .width = between(n + 2, most),
                   .n = n,
                   .planes = between(1, 3),
                   .paired = between(0, 1) == 1});
  }
  return out;
}

// A volume of n^3 voxels that no rotation maps onto itself.
inline engine::Volume blobs(int n) {
  engine::Volume volume{n, {}};
  const double middle = n / 2;
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        const auto blob = [&](double dz, double dy, double dx, double size) {
          const double a = z - middle - dz;
          const double b = y - middle - dy;
          const double d = x - middle - dx;
          return std::exp(-(a * a + b * b + d * d) / size);
        };
        volume.voxels.push_back(static_cast<float>(blob(0, 0, 3, 3) + 0.8 * blob(-3, 1, -2, 2) +
                                                   0.6 * blob(2, -4, 0, 2)));
      }
    }
  }
  return volume;
}

inline engine::Search search_of(const SearchCase& c) {
  const auto pixels = static_cast<size_t>(c.height) * static_cast<size_t>(c.width);
  engine::Image image(c.height, c.width);
  image.pixels = random_floats(pixels, 21);
  engine::Search search = engine::prepare_search(config_of(c), image, blobs(c.n));
  if (!c.paired) search.space.units = engine::make_units(search.space.list, false);
  return search;
}

inline engine::ProblemShape shape_of(const engine::Problem& p) {
  return {p.height, p.width, p.template_size, p.planes(),
          static_cast<int64_t>(p.orientations.size())};
}

inline engine::Accumulators run_on(engine::Backend& backend, const engine::Search& search) {
  const std::atomic<bool> never = false;
  return engine::run_search(search, backend, {}, never).accumulators;
}

inline engine::Accumulators run_on_cpu(const engine::Search& search) {
  const auto backend = engine::cpu::make_cpu_backend(
      search.problem,
      engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1, .batch = 4}));
  return run_on(*backend, search);
}

struct Deviations {
  double mip = 0, mean = 0, sd = 0;  // rms over the pixels
  double other_index = 0;            // share of the pixels
};

inline Deviations deviations(const engine::Accumulators& a, const engine::Accumulators& b,
                             int64_t correlations) {
  Deviations d;
  const auto pixels = static_cast<double>(a.best.size());
  const auto square = [](double x) { return x * x; };
  for (size_t i = 0; i < a.best.size(); ++i) {
    const engine::Moments ma = engine::moments(a.sum[i], a.squares[i], correlations);
    const engine::Moments mb = engine::moments(b.sum[i], b.squares[i], correlations);
    d.mip += square(engine::best_value(a.best[i]) - engine::best_value(b.best[i])) / pixels;
    d.mean += square(ma.mean - mb.mean) / pixels;
    d.sd += square(ma.sd - mb.sd) / pixels;
    if (engine::best_index(a.best[i]) != engine::best_index(b.best[i])) d.other_index += 1 / pixels;
  }
  return {std::sqrt(d.mip), std::sqrt(d.mean), std::sqrt(d.sd), d.other_index};
}

inline bool same_bits(const engine::Accumulators& a, const engine::Accumulators& b) {
  return a.best == b.best && a.sum == b.sum && a.squares == b.squares;
}

template <typename Maker>
class CudaSearch : public OnDevice<Maker> {
 protected:
  // Other passes and plans than the shape would have, so that the last ones are partly filled.
  static cuda::MemoryPlan plan_for(const engine::Problem& p, int batch) {
    cuda::MemoryPlan plan = cuda::plan_memory(shape_of(p), batch);
    plan.transforms = 3;
    plan.projections = 5;
    return plan;
  }
  static std::unique_ptr<engine::Backend> backend(const engine::Search& search,
                                                  const cuda::MemoryPlan& plan) {
    using PlaneBackend = cuda::DeviceBackend<typename Maker::Device, cuda::PlaneCorrelator>;
    return std::make_unique<PlaneBackend>(Maker::make(), search.problem, plan);
  }
  static std::unique_ptr<engine::Backend> backend(const engine::Search& search, int batch) {
    return backend(search, plan_for(search.problem, batch));
  }

  static void expect_maps_of_the_cpu(const SearchCase& c, int batch) {
    SCOPED_TRACE(text_of(c));
    const engine::Search search = search_of(c);
    const engine::Accumulators expected = run_on_cpu(search);
    const auto on_device = backend(search, batch);
    const engine::Accumulators found = run_on(*on_device, search);
    const int64_t count = search.space.correlations();
    const Deviations d = deviations(found, expected, count);
    EXPECT_LT(d.mip, 1e-4);
    EXPECT_LT(d.mean, 1e-4);
    EXPECT_LT(d.sd, 1e-4);
    EXPECT_LT(d.other_index, 0.01);
    EXPECT_GT(engine::best_z(expected, count), 0.5) << "nothing to compare";
    EXPECT_NEAR(on_device->best_z(count), engine::best_z(found, count), 1e-9);
  }

  static std::vector<SearchCase> cases() {
    std::vector<SearchCase> out = {
        {.name = "square", .height = 40, .width = 40, .n = 16, .planes = 2},
        {.name = "wide", .height = 38, .width = 54, .n = 16},
        {.name = "tall, odd widths", .height = 45, .width = 35, .n = 14, .planes = 3},
        {.name = "template as large as the image less two", .height = 26, .width = 30, .n = 24},
        {.name = "single orientations",
         .height = 36,
         .width = 42,
         .n = 16,
         .planes = 3,
         .paired = false},
        {.name = "magnified", .height = 36, .width = 40, .n = 16, .magnified = true},
        {.name = "complex filters",
         .height = 36,
         .width = 40,
         .n = 16,
         .planes = 2,
         .complex_filters = true},
        {.name = "one correlation in a transform",
         .height = 36,
         .width = 40,
         .n = 16,
         .paired = false,
         .magnified = true,
         .complex_filters = true}};
    if (Maker::large_cases()) {
      out.push_back({.name = "powers of two", .height = 512, .width = 512, .n = 128, .planes = 3});
      out.push_back({.name = "a lengthy prime", .height = 502, .width = 614, .n = 96});
      out.push_back(
          {.name = "large", .height = 1438, .width = 1023, .n = 192, .planes = 2, .paired = false});
    }
    return out;
  }
};

TYPED_TEST_SUITE_P(CudaSearch);

TYPED_TEST_P(CudaSearch, GivesTheMapsOfTheCpu) {
  for (const SearchCase& c : this->cases()) this->expect_maps_of_the_cpu(c, 4);
}

TYPED_TEST_P(CudaSearch, GivesTheMapsOfTheCpuForSizesAtRandom) {
  const auto cases =
      TypeParam::large_cases() ? cases_at_random(31, 12, 700, 160) : cases_at_random(32, 3, 44, 20);
  int batch = 1;
  for (const SearchCase& c : cases) this->expect_maps_of_the_cpu(c, batch += 2);
}

TYPED_TEST_P(CudaSearch, GivesTheSameBitsForEveryBatchAndEveryOrder) {
  for (const bool paired : {true, false}) {
    const engine::Search search =
        search_of({.name = "", .height = 30, .width = 34, .n = 16, .planes = 3, .paired = paired});
    ASSERT_GE(search.space.units.size(), 18u);
    const auto whole = this->backend(search, 1);
    const engine::Accumulators expected = run_on(*whole, search);
    for (const int batch : {3, 64}) {
      const auto backend = this->backend(search, batch);
      EXPECT_TRUE(same_bits(run_on(*backend, search), expected)) << "batch " << batch;
    }
    std::vector<engine::Unit> units = search.space.units;
    std::shuffle(units.begin(), units.end(), std::mt19937(5));
    const auto backend = this->backend(search, 4);
    const std::span<const engine::Unit> all(units);
    backend->correlate(all.subspan(0, 5));
    backend->correlate(all.subspan(5));
    EXPECT_TRUE(same_bits(backend->accumulators(), expected)) << "in another order";
  }
}

TYPED_TEST_P(CudaSearch, GoesOnFromWhatAnotherOneHadAccumulated) {
  const engine::Search search =
      search_of({.name = "", .height = 32, .width = 36, .n = 16, .planes = 2});
  const std::span<const engine::Unit> units(search.space.units);
  const auto whole = this->backend(search, 3);
  whole->correlate(units);
  const auto first = this->backend(search, 3);
  first->correlate(units.subspan(0, 7));
  const auto second = this->backend(search, 4);
  second->restore(first->accumulators());
  second->correlate(units.subspan(7));
  EXPECT_TRUE(same_bits(second->accumulators(), whole->accumulators()));
}

TYPED_TEST_P(CudaSearch, RunsAsItsShapeWouldHaveIt) {
  const engine::Search search =
      search_of({.name = "", .height = 30, .width = 34, .n = 12, .planes = 2});
  const auto backend = this->backend(search, cuda::plan_memory(shape_of(search.problem), 0));
  const Deviations d =
      deviations(run_on(*backend, search), run_on_cpu(search), search.space.correlations());
  EXPECT_LT(d.mip, 1e-4);
  EXPECT_GE(backend->batch(), 1);
}

// Zeros that fill up a pass must not be counted: they would be the maximum here and there.
TYPED_TEST_P(CudaSearch, OfOneUnitHasNegativeMaximaToo) {
  const engine::Search search =
      search_of({.name = "", .height = 30, .width = 34, .n = 12, .paired = false});
  const auto one = std::span<const engine::Unit>(search.space.units).subspan(3, 1);
  const auto cpu = engine::cpu::make_cpu_backend(
      search.problem, engine::cpu::plan_memory(shape_of(search.problem), {.threads = 1}));
  cpu->correlate(one);
  const auto backend = this->backend(search, 4);
  backend->correlate(one);
  const engine::Accumulators found = backend->accumulators();
  EXPECT_LT(deviations(found, cpu->accumulators(), 1).mip, 1e-4);
  EXPECT_LT(engine::best_value(*std::min_element(found.best.begin(), found.best.end())), -0.5);
}

TYPED_TEST_P(CudaSearch, EndsWithThePixelNamedWhenASumLeavesItsRange) {
  const engine::Search search = search_of({.name = "", .height = 32, .width = 36, .n = 16});
  const auto backend = this->backend(search, 4);
  engine::Accumulators full = backend->accumulators();
  full.squares[13 * static_cast<size_t>(full.width) + 7] =
      static_cast<int64_t>(engine::kSquareLimit) - 1;
  backend->restore(full);
  backend->correlate(search.space.units);
  const auto words = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const engine::InputError& e) {
      return e.what();
    }
    return "an overflow went unnoticed";
  };
  for (const std::string& said : {words([&] { backend->correlate(search.space.units); }),
                                  words([&] { backend->accumulators(); })}) {
    EXPECT_NE(said.find("row 13, column 7"), std::string::npos) << said;
    EXPECT_NE(said.find("most extreme pixel"), std::string::npos) << said;
  }
}

REGISTER_TYPED_TEST_SUITE_P(CudaSearch, GivesTheMapsOfTheCpu, GivesTheMapsOfTheCpuForSizesAtRandom,
                            GivesTheSameBitsForEveryBatchAndEveryOrder,
                            GoesOnFromWhatAnotherOneHadAccumulated, RunsAsItsShapeWouldHaveIt,
                            OfOneUnitHasNegativeMaximaToo,
                            EndsWithThePixelNamedWhenASumLeavesItsRange);

}  // namespace tests
