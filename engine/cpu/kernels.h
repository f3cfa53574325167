// The vectorised loops over pixels, chosen at run time for this processor's instruction set.
// Products and sums are rounded separately, never fused, so that every instruction set gives the
// same bits.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

namespace engine::cpu {

// Computes out = conj(a) * b; `out` may be `a` or `b`.
void multiply_conjugate(const std::complex<float>* a, const std::complex<float>* b,
                        std::complex<float>* out, size_t count);

// One row of the accumulators. `best` and `index` hold the largest value and its index, of equal
// values the lower index.
struct StatisticsRow {
  float* best;
  int32_t* index;
  int64_t* sum;
  int64_t* squares;
};

// Adds a row with two correlations per pixel: the real part has index `first`, the imaginary part
// index `second` > first; -1 means that the imaginary part is ignored. Returns false when a value
// is not finite or a sum has left its range.
bool accumulate(const std::complex<float>* row, size_t count, int32_t first, int32_t second,
                StatisticsRow statistics);

// Transposes 8-byte elements: out[c * out_stride + r] = in[r * in_stride + c].
void transpose(const std::complex<float>* in, size_t in_stride, size_t rows, size_t columns,
               std::complex<float>* out, size_t out_stride);

// Returns the name of the instruction set in use.
std::string kernel_instruction_set();

}  // namespace engine::cpu
