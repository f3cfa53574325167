// The passes of the fused path over blocks of lines, chosen at run time for this processor's
// instruction set.
//
// A faster kernel: the columns are columns() of kernels.cpp, and their part in the first cache is
// correlate_part() of passes-inl.h; the last rows are rows() and add_points() of sums-inl.h; the
// parameters are in blocks.h, the arrays in layout.h, the memory in plan.cpp and rate.cpp. Its bits
// may differ from before if they are the same for every width of a vector, thread and batch; then
// kNumericsVersion (search/search.h) is raised. fused_test, fused_memory_test and vector_units_test
// run it on every instruction set, tools/check-arm on NEON and SVE; bench/search_bench.cpp measures
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/cpu/fused/blocks.h"
#include "engine/cpu/fused/line.h"

namespace engine::cpu::fused {

struct Kernels {
  std::string (*name)();
  size_t lanes;
  void (*template_rows)(const Line&, const TemplateRows&, float* working);
  void (*columns)(const Line&, const Columns&, float* working);
  // Values too large for `sums` are added to `statistics` at once, as maxima always are.
  OutOfRange (*rows)(const Line&, const Rows&, float* working);
  // Needs working memory for `size` points beside Line::working().
  void (*projection)(const Line&, const Projection&, float* working);
  // Adds the sums of a group of transforms to those of the search.
  OutOfRange (*add_sums)(const int32_t* sums, const Statistics&, size_t points);
};

const Kernels& choose_kernels();

}  // namespace engine::cpu::fused
