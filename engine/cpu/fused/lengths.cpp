#include "engine/cpu/fused/lengths.h"

#include <algorithm>
#include <array>
#include <limits>

namespace engine::cpu::fused {
namespace {

struct Radix {
  int radix;
  double cost;  // of a point in a pass, relative
};
// The radices stand in the order of the passes. A pass costs its loads and stores, and more
// arithmetic the larger or the odder its radix is. The points of radix 16 and their roots are more
// than the vector registers hold, so it comes last: that pass has no roots.
constexpr std::array<Radix, 8> kRadices = {
    {{9, 1.45}, {8, 1.15}, {7, 1.7}, {5, 1.35}, {4, 1.0}, {3, 1.0}, {2, 0.9}, {16, 1.8}}};

struct Factors {
  std::vector<int> radices;
  double cost = std::numeric_limits<double>::infinity();  // of a point
};

// The cheapest product of radices, from kRadices[from] on, that makes `length`.
Factors cheapest(int length, size_t from) {
  if (length == 1) return {.radices = {}, .cost = 0};
  Factors best;
  for (size_t i = from; i < kRadices.size(); ++i) {
    const auto [radix, cost] = kRadices[i];
    if (length % radix != 0) continue;
    Factors rest = cheapest(length / radix, i);
    if (rest.cost + cost >= best.cost) continue;
    best.cost = rest.cost + cost;
    best.radices = std::move(rest.radices);
    best.radices.insert(best.radices.begin(), radix);
  }
  return best;
}

// Of everything else that is done for a point: transposes, statistics, memory.
constexpr double kCostBesidePasses = 4;

double cost_of_line(int length) { return length * (kCostBesidePasses + cheapest(length, 0).cost); }

}  // namespace

std::vector<int> factors_of(int length) { return cheapest(length, 0).radices; }

int padded_length(int side, int multiple) {
  // Another length, and with it an image to be padded, has to pay.
  constexpr double kWorthIt = 0.95;
  const int first = (side + multiple - 1) / multiple * multiple;
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int length = first; best == 0 || length <= side + side / 4; length += multiple) {
    const double cost = cost_of_line(length) * (length == side ? kWorthIt : 1.0);
    if (cost < least) {
      least = cost;
      best = length;
    }
  }
  return best;
}

}  // namespace engine::cpu::fused
