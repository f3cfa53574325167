// The loops over pixels that are worth vectors, chosen at run time for this processor's
// instruction set. Products and sums are written out, never fused, so that every instruction set
// gives the same bits.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

namespace engine::cpu {

// out = conj(a) * b; `out` may be one of them.
void multiply_conjugate(const std::complex<float>* a, const std::complex<float>* b,
                        std::complex<float>* out, size_t count);

// One row of the accumulators. `best` and `index` order by value, then by the lower index.
struct StatisticsRow {
  float* best;
  int32_t* index;
  int64_t* sum;
  int64_t* squares;
};

// Adds a row holding two correlations per pixel: the real part, of index `first`, and the imaginary
// part, of index `second` > first; -1: there is none, whatever stands there. False when a value is
// not finite or a sum has left its range.
bool accumulate(const std::complex<float>* row, size_t count, int32_t first, int32_t second,
                StatisticsRow statistics);

// Transposes 8-byte elements: out[c * out_stride + r] = in[r * in_stride + c].
void transpose(const std::complex<float>* in, size_t in_stride, size_t rows, size_t columns,
               std::complex<float>* out, size_t out_stride);

// Name of the instruction set in use.
std::string kernel_instruction_set();

}  // namespace engine::cpu
