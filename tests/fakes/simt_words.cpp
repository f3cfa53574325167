#include "tests/fakes/simt_words.h"

#include <numbers>

namespace tests::simt {

// Exact at all multiples of a half, as CUDA's: the angle is brought to within a quarter turn first.
void sine_and_cosine_of_pi(double x, double* sine, double* cosine) {
  const double quarters = rint(2.0 * x);
  const double angle = std::numbers::pi * (x - 0.5 * quarters);
  const double s = sin(angle);
  const double c = cos(angle);
  switch (static_cast<int>(fmod(quarters, 4.0)) & 3) {
    case 0:
      *sine = s;
      *cosine = c;
      break;
    case 1:
      *sine = c;
      *cosine = -s;
      break;
    case 2:
      *sine = -s;
      *cosine = -c;
      break;
    case 3:
      *sine = -c;
      *cosine = s;
      break;
  }
}

}  // namespace tests::simt

unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
  return reversed;
}
