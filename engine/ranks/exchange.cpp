#include "engine/ranks/exchange.h"

#include <algorithm>
#include <span>

namespace engine {
namespace {

template <typename T>
void share_value(Communicator& communicator, T& value) {
  communicator.broadcast(std::as_writable_bytes(std::span(&value, 1)));
}

}  // namespace

void share(Communicator& communicator, Problem& problem, std::vector<Unit>& units) {
  for (int* number : {&problem.height, &problem.width, &problem.template_size}) {
    share_value(communicator, *number);
  }
  share_value(communicator, problem.magnified);
  share_value(communicator, problem.magnification);
  std::vector<char> extreme_pixel(problem.extreme_pixel.begin(), problem.extreme_pixel.end());
  share(communicator, extreme_pixel);
  problem.extreme_pixel.assign(extreme_pixel.begin(), extreme_pixel.end());
  share(communicator, problem.image_spectrum);
  share(communicator, problem.volume_spectrum);
  auto planes = static_cast<uint64_t>(problem.filters.size());
  share_value(communicator, planes);
  problem.filters.resize(planes);
  for (auto& filter : problem.filters) share(communicator, filter);
  share(communicator, problem.orientations);
  share(communicator, units);
}

void reduce(Communicator& communicator, Accumulators& statistics) {
  communicator.reduce_max(statistics.best);
  communicator.reduce_sum(statistics.sum);
  communicator.reduce_sum(statistics.squares);
}

void check_range(const Accumulators& statistics, int ranks, const std::string& extreme_pixel) {
  const auto limit = static_cast<int64_t>(kSquareLimit / static_cast<uint64_t>(ranks));
  const auto worst = std::max_element(statistics.squares.begin(), statistics.squares.end());
  if (worst == statistics.squares.end() || *worst < limit) return;
  const auto pixel = static_cast<int64_t>(worst - statistics.squares.begin());
  refuse_sums(pixel / statistics.width, pixel % statistics.width, extreme_pixel);
}

}  // namespace engine
