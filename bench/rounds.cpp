#include "bench/rounds.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bench {

Spread spread_of(std::vector<double> values) {
  if (values.empty()) throw std::logic_error("no rounds were measured");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Spread ratio_of(const std::vector<double>& side, const std::vector<double>& base) {
  if (side.size() != base.size()) throw std::logic_error("the sides have other numbers of rounds");
  std::vector<double> ratios;
  for (size_t i = 0; i < side.size(); ++i) ratios.push_back(side[i] / base[i]);
  return spread_of(std::move(ratios));
}

std::vector<int> order_of_round(int round, int sides) {
  std::vector<int> order;
  for (int i = 0; i < sides; ++i) order.push_back((round + i) % sides);
  return order;
}

int calls_for(double wanted, double seconds, int most) {
  if (!(seconds > 0)) return most;
  return static_cast<int>(std::clamp(std::ceil(wanted / seconds), 1.0, static_cast<double>(most)));
}

}  // namespace bench
