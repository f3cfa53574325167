#include "bench/kernel_bytes.h"

#include <cstdio>

namespace bench {
namespace {

constexpr int64_t kComplex = 8, kReal = 4;
constexpr int64_t kStatistics = 24;  // of a pixel: maximum, sum, sum of squares

int64_t slice(int64_t n) { return n * (n / 2 + 1); }

int64_t valid_pixels(const Work& w) { return (w.height - w.n + 1) * (w.width - w.n + 1); }

// Returns the bytes of a call that is named after its plan.
std::optional<int64_t> library_bytes(const std::string& name) {
  long long count = 0;
  long long size = 0;
  if (std::sscanf(name.c_str(), "cuFFT's transform of %lld lines of %lld", &count, &size) == 2) {
    return 2 * count * size * kComplex;
  }
  if (std::sscanf(name.c_str(), "cuFFT's back-transform of %lld squares of %lld", &count, &size) ==
      2) {
    return count * (slice(size) * kComplex + size * size * kReal);
  }
  return std::nullopt;
}

std::optional<int64_t> projection_bytes(const std::string& name, const Work& w) {
  const int64_t projections = w.units * w.planes;
  // The voxels next to a slice are two layers of it.
  if (name == "extract_slices") return 3 * w.units * slice(w.n) * kComplex;
  if (name == "filter_slices") return (w.units + w.planes + projections) * slice(w.n) * kComplex;
  if (name == "measure_projections") return projections * w.n * w.n * kReal;
  return std::nullopt;
}

std::optional<int64_t> plane_bytes(const std::string& name, const Work& w) {
  const int64_t pixels = w.height * w.width;
  if (name == "pack_template_rows") {
    return w.transforms * (w.n * w.n * kReal + w.n * w.width * kComplex);
  }
  if (name == "multiply_conjugate") return (w.passes() + 2 * w.transforms) * pixels * kComplex;
  if (name == "accumulate") {
    return valid_pixels(w) * (w.transforms * kComplex + w.passes() * 2 * kStatistics);
  }
  return std::nullopt;
}

std::optional<int64_t> fused_bytes(const std::string& name, const Work& w) {
  const int64_t rows = w.n * w.row_length * w.number_bytes;  // of the template, of one transform
  const int64_t spectra = w.tiles * w.row_length * w.column_length * w.number_bytes;
  const int64_t exchange = w.tiles * w.kept_rows * w.row_length * w.number_bytes;
  if (name == "transform_template_rows") return w.transforms * (w.n * w.n * kReal + rows);
  if (name == "correlate_columns" || name == "correlate_columns_in_two") {
    return w.transforms * (rows + exchange) + w.passes() * spectra;
  }
  if (name == "finish_rows") {
    return w.transforms * exchange + w.passes() * valid_pixels(w) * 2 * kStatistics;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> kernel_bytes(const std::string& kernel, const Work& work, int64_t launches) {
  if (const auto bytes = library_bytes(kernel)) return static_cast<double>(*bytes * launches);
  for (const auto& known :
       {projection_bytes(kernel, work), plane_bytes(kernel, work), fused_bytes(kernel, work)}) {
    if (known) return static_cast<double>(*known);
  }
  return std::nullopt;
}

}  // namespace bench
