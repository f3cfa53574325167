// Implements fft.h and fft_plan.h with FFTW.
#include <fftw3.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <type_traits>

#include "base/huge_pages.h"
#include "engine/error.h"
#include "engine/numerics/fft.h"
#include "engine/numerics/fft_plan.h"

namespace engine {
namespace {

// FFTW's planner, which makes and destroys plans, has one state for the whole program.
std::lock_guard<std::mutex> hold_planner() {
  static std::mutex planner;
  return std::lock_guard(planner);
}

template <auto kDestroy>
struct Destroy {
  void operator()(auto* plan) const {
    const auto hold = hold_planner();
    kDestroy(plan);
  }
};
using DoublePlan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy<fftw_destroy_plan>>;
using FloatPlan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, Destroy<fftwf_destroy_plan>>;

template <typename Plan, typename Make>
Plan make_plan(const char* what, const Make& make) {
  const auto hold = hold_planner();
  Plan plan(make());
  if (!plan) throw Error(ExitCode::kDeviceFault, std::string("FFTW cannot plan ") + what);
  return plan;
}

}  // namespace

std::vector<std::complex<double>> forward_2d(const Image& image) {
  const size_t columns = static_cast<size_t>(image.width) / 2 + 1;
  std::vector<double> in(image.pixels.begin(), image.pixels.end());
  std::vector<std::complex<double>> out(static_cast<size_t>(image.height) * columns);
  // UNALIGNED: the plan must not depend on where the allocator put the vectors.
  const auto plan = make_plan<DoublePlan>("the image transform", [&] {
    return fftw_plan_dft_r2c_2d(image.height, image.width, in.data(),
                                reinterpret_cast<fftw_complex*>(out.data()),
                                FFTW_ESTIMATE | FFTW_UNALIGNED);
  });
  fftw_execute(plan.get());
  return out;
}

std::vector<double> inverse_2d(std::vector<std::complex<double>> spectrum, int height, int width) {
  std::vector<double> out(static_cast<size_t>(height) * static_cast<size_t>(width));
  const auto plan = make_plan<DoublePlan>("the inverse image transform", [&] {
    return fftw_plan_dft_c2r_2d(height, width, reinterpret_cast<fftw_complex*>(spectrum.data()),
                                out.data(), FFTW_ESTIMATE | FFTW_UNALIGNED);
  });
  fftw_execute(plan.get());
  const double scale = 1.0 / (static_cast<double>(height) * width);
  for (double& value : out) value *= scale;
  return out;
}

std::vector<std::complex<float>> forward_3d(const std::vector<float>& values, int size) {
  const size_t n = static_cast<size_t>(size);
  const size_t columns = n / 2 + 1;
  std::vector<std::complex<float>> out;
  base::resize_in_huge_pages(out, n * n * columns);
  // In place, so that a 512-voxel template needs its spectrum and no more.
  auto* real = reinterpret_cast<float*>(out.data());
  for (size_t line = 0; line < n * n; ++line) {
    std::memcpy(real + line * 2 * columns, values.data() + line * n, n * sizeof(float));
  }
  const auto plan = make_plan<FloatPlan>("the template transform", [&] {
    return fftwf_plan_dft_r2c_3d(size, size, size, real,
                                 reinterpret_cast<fftwf_complex*>(out.data()),
                                 FFTW_ESTIMATE | FFTW_UNALIGNED);
  });
  fftwf_execute(plan.get());
  return out;
}

FftLibrary fft_library() { return {.name = kFftw, .version = fftwf_version}; }

namespace cpu {
namespace {

fftwf_complex* fftw_ptr(Complex* p) { return reinterpret_cast<fftwf_complex*>(p); }

}  // namespace

void DestroyPlan::operator()(void* plan) const {
  FloatPlan::deleter_type()(static_cast<fftwf_plan>(plan));
}

LinePlan::LinePlan(int length, Direction direction) {
  AlignedArray<Complex> in(static_cast<size_t>(length));
  AlignedArray<Complex> out(static_cast<size_t>(length));
  const int sign = direction == Direction::kForward ? FFTW_FORWARD : FFTW_BACKWARD;
  plan_.reset(make_plan<FloatPlan>("a row transform", [&] {
                return fftwf_plan_dft_1d(length, fftw_ptr(in.data()), fftw_ptr(out.data()), sign,
                                         FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
              }).release());
}

void LinePlan::execute(const Complex* in, Complex* out) const {
  fftwf_execute_dft(static_cast<fftwf_plan>(plan_.get()), fftw_ptr(const_cast<Complex*>(in)),
                    fftw_ptr(out));
}

ProjectionPlan::ProjectionPlan(int n) {
  AlignedArray<Complex> in(static_cast<size_t>(n) * (static_cast<size_t>(n) / 2 + 1));
  AlignedArray<float> out(static_cast<size_t>(n) * static_cast<size_t>(n));
  plan_.reset(make_plan<FloatPlan>("a projection transform", [&] {
                return fftwf_plan_dft_c2r_2d(n, n, fftw_ptr(in.data()), out.data(), FFTW_ESTIMATE);
              }).release());
}

void ProjectionPlan::execute(Complex* half_plane, float* out) const {
  fftwf_execute_dft_c2r(static_cast<fftwf_plan>(plan_.get()), fftw_ptr(half_plane), out);
}

}  // namespace cpu
}  // namespace engine
