// The roots of unity for BlockFft, which the host makes once and copies to the device.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "engine/cuda/fused/fft_order.cuh"

namespace engine::cuda {

inline void store_root(double cosine, double sine, float2* root) {
  *root = {static_cast<float>(cosine), static_cast<float>(sine)};
}

// Makes the roots in the order of FftOrder::root(), rounded from double.
template <int kLength, typename Root = float2>
std::vector<Root> make_roots() {
  using Order = FftOrder<kLength>;
  std::vector<Root> roots(Order::kRoots);
  for (int stage = 0; stage < 2; ++stage) {
    for (int i = 0; i < Order::radix(stage); ++i) {
      for (int offset = 0; offset < Order::stride(stage); ++offset) {
        const double angle = -2 * std::numbers::pi * offset * i / Order::run(stage);
        store_root(std::cos(angle), std::sin(angle),
                   &roots[static_cast<size_t>(Order::root(stage, offset, i))]);
      }
    }
  }
  return roots;
}

}  // namespace engine::cuda
