// Statistics over several rounds of a measurement. Pure.
#pragma once

#include <vector>

namespace bench {

struct Spread {
  double median = 0, smallest = 0, largest = 0;
};

// Takes at least one value; the median of an even number of them is the mean of the middle two.
Spread spread_of(std::vector<double> values);

// Round by round: what one side reached over what the other did in the same round, so that a clock
// that drifts does not count. Both have as many rounds.
Spread ratio_of(const std::vector<double>& side, const std::vector<double>& base);

// Which side goes first, second, ... in a round: each in turn is first.
std::vector<int> order_of_round(int round, int sides);

// How many calls of `seconds` each fill `wanted` seconds, at least one and at most `most`.
int calls_for(double wanted, double seconds, int most);

}  // namespace bench
