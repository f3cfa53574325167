// A search that takes a fraction of a second, for the tests of searches and their checkpoints.
#pragma once

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "engine/cpu/cpu_backend.h"
#include "engine/cpu/fused/backend.h"
#include "engine/numerics/simulate.h"
#include "engine/search/search.h"

namespace engine {

inline constexpr int kSmallTemplate = 16;

inline Volume blobs() {
  Volume volume{kSmallTemplate, {}};
  const auto blob = [](double z, double y, double x, double s) {
    return std::exp(-(z * z + y * y + x * x) / s);
  };
  for (int z = 0; z < kSmallTemplate; ++z) {
    for (int y = 0; y < kSmallTemplate; ++y) {
      for (int x = 0; x < kSmallTemplate; ++x) {
        volume.voxels.push_back(static_cast<float>(blob(z - 8, y - 8, x - 11, 3) +
                                                   0.8 * blob(z - 5, y - 9, x - 6, 2) +
                                                   0.6 * blob(z - 10, y - 4, x - 8, 2)));
      }
    }
  }
  return volume;
}

inline SearchConfig small_config() {
  SearchConfig config;
  config.path = "test.yaml";
  config.optics = {.label = "test",
                   .pixel_size = 4.0,
                   .voltage = 300,
                   .defocus_u = 9000,
                   .defocus_v = 8800,
                   .astigmatism_angle = 20};
  config.defocus = {.min = -400, .max = 400, .step = 400};
  // 30 degrees divide a half turn: every unit is a pair.
  config.orientations = {{.psi_step = 30, .theta_step = 60}};
  return config;
}

inline Image small_micrograph(const SearchConfig& config) {
  return simulate(blobs(), config.optics,
                  {.height = 72, .width = 90, .particles = 3, .seed = 5, .z = 12})
      .micrograph;
}

struct SmallSearch {
  SearchConfig config = small_config();
  Search search;
  std::string fft = "fused";

  explicit SmallSearch(SearchConfig c = small_config()) : config(std::move(c)) {
    search = prepare_search(config, small_micrograph(config), blobs());
  }
  std::unique_ptr<Backend> backend(int threads, int batch) const {
    const Problem& p = search.problem;
    const ProblemShape shape{p.height, p.width, p.template_size, p.planes()};
    const cpu::CpuOptions options{threads, batch};
    if (fft == "fused") return cpu::fused::make_backend(p, cpu::fused::plan_memory(shape, options));
    return cpu::make_cpu_backend(p, cpu::plan_memory(shape, options));
  }
};

inline bool same_bits(const Accumulators& a, const Accumulators& b) {
  return a.best == b.best && a.sum == b.sum && a.squares == b.squares;
}

inline Accumulators run_whole(const SmallSearch& f, int threads, int batch) {
  const auto backend = f.backend(threads, batch);
  const std::atomic<bool> never = false;
  return run_search(f.search, *backend, {}, never).accumulators;
}

}  // namespace engine
