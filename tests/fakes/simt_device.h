// A device of engine/cuda/device_concept.h that runs its kernels on the CPU, with FFTW in cuFFT's
// place. Arrays are heap buffers of exactly their size, full of garbage, so that the address
// sanitizer sees what a device would let pass. Every line is transformed alone, so that no number
// depends on what else is transformed with it.
#pragma once

#include <complex>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "engine/cuda/device_concept.h"
#include "engine/numerics/fft_plan.h"
#include "tests/fakes/simt.h"

namespace tests {

class SimtDevice {
 public:
  explicit SimtDevice(uint64_t seed = 1) : seed_(seed) {}

  template <typename T>
  class Buffer {
   public:
    Buffer(SimtDevice&, const char*, size_t count)
        : data_(static_cast<T*>(::operator new(count * sizeof(T)))), size_(count) {
      std::memset(static_cast<void*>(data_.get()), 0xbd, count * sizeof(T));
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    size_t size() const { return size_; }

   private:
    static_assert(std::is_trivially_copyable_v<T>);
    struct Free {
      void operator()(T* p) const { ::operator delete(p); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_;
  };

  template <typename T>
  class Later {
   public:
    explicit Later(SimtDevice&) {}
    T get() const { return value_; }

   private:
    friend class SimtDevice;
    T value_{};
  };
  template <typename T>
  void fetch(const Buffer<T>& from, Later<T>& to) {
    to.value_ = *from.data();
  }

  template <typename T>
  void upload(Buffer<T>& to, const T* from, size_t count) {
    std::memcpy(static_cast<void*>(to.data()), from, count * sizeof(T));
  }
  template <typename T>
  void download(const Buffer<T>& from, T* to, size_t count) {
    std::memcpy(static_cast<void*>(to), from.data(), count * sizeof(T));
  }
  template <typename T>
  void clear(Buffer<T>& buffer) {
    std::memset(static_cast<void*>(buffer.data()), 0, buffer.size() * sizeof(T));
  }

  // Every launch has another order of threads and blocks.
  template <typename... Parameters, typename... Arguments>
  void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
              size_t shared_bytes, Arguments... arguments) {
    simt::launch({.kernel = name, .seed = seed_++}, kernel, grid, block, shared_bytes,
                 arguments...);
  }

  class LinePlan {
   public:
    LinePlan(SimtDevice&, const engine::cuda::Lines& lines)
        : lines_(lines),
          forward_(lines.length, engine::cpu::Direction::kForward),
          inverse_(lines.length, engine::cpu::Direction::kInverse),
          in_(static_cast<size_t>(lines.length)),
          out_(static_cast<size_t>(lines.length)) {}

   private:
    friend class SimtDevice;
    void execute(const engine::cpu::LinePlan& plan, const float2* in, float2* out) {
      for (int64_t line = 0; line < lines_.count; ++line) {
        const int64_t start = line * lines_.distance;
        for (int i = 0; i < lines_.length; ++i) {
          const float2 value = in[start + i * lines_.stride];
          in_[static_cast<size_t>(i)] = {value.x, value.y};
        }
        plan.execute(in_.data(), out_.data());
        for (int i = 0; i < lines_.length; ++i) {
          const std::complex<float> value = out_[static_cast<size_t>(i)];
          out[start + i * lines_.stride] = make_float2(value.real(), value.imag());
        }
      }
    }

    engine::cuda::Lines lines_;
    engine::cpu::LinePlan forward_, inverse_;
    engine::cpu::AlignedArray<std::complex<float>> in_, out_;
  };

  class PlanePlan {
   public:
    PlanePlan(SimtDevice&, const engine::cuda::Planes& planes)
        : planes_(planes),
          plan_(planes.n),
          in_(static_cast<size_t>(planes.n) * (static_cast<size_t>(planes.n) / 2 + 1)),
          out_(static_cast<size_t>(planes.n) * static_cast<size_t>(planes.n)) {}

   private:
    friend class SimtDevice;
    engine::cuda::Planes planes_;
    engine::cpu::ProjectionPlan plan_;
    engine::cpu::AlignedArray<std::complex<float>> in_;
    engine::cpu::AlignedArray<float> out_;
  };

  void allocate_workspace() {}

  void forward(LinePlan& plan, const float2* in, float2* out) {
    plan.execute(plan.forward_, in, out);
  }
  void inverse(LinePlan& plan, const float2* in, float2* out) {
    plan.execute(plan.inverse_, in, out);
  }
  void back_transform(PlanePlan& plan, float2* in, float* out) {
    for (int k = 0; k < plan.planes_.count; ++k) {
      const size_t half = plan.in_.size();
      const size_t whole = plan.out_.size();
      std::memcpy(static_cast<void*>(plan.in_.data()), in + static_cast<size_t>(k) * half,
                  half * sizeof(float2));
      plan.plan_.execute(plan.in_.data(), plan.out_.data());
      std::copy_n(plan.out_.data(), whole, out + static_cast<size_t>(k) * whole);
      // What a library leaves of its input is its own affair.
      std::memset(static_cast<void*>(in + static_cast<size_t>(k) * half), 0xbd,
                  half * sizeof(float2));
    }
  }

 private:
  uint64_t seed_;
};

}  // namespace tests
