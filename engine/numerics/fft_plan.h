// Plans of the library that fft.h names, which free themselves. They are not chosen by timing,
// which would give different bits from run to run. Making and executing plans is thread-safe.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <new>

namespace engine::cpu {

using Complex = std::complex<float>;

// A zeroed, 64-byte aligned array of elements that need no destructor.
template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(size_t count)
      : data_(static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}))),
        size_(count) {
    for (size_t i = 0; i < count; ++i) new (data_.get() + i) T();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
};

// Owns the library's plan, whose type only the library's header declares.
struct DestroyPlan {
  void operator()(void* plan) const;
};
using PlanHandle = std::unique_ptr<void, DestroyPlan>;

enum class Direction { kForward, kInverse };

// A complex transform of `length` points, out of place and unnormalised; both arrays are contiguous
// and 64-byte aligned.
class LinePlan {
 public:
  LinePlan(int length, Direction direction);
  void execute(const Complex* in, Complex* out) const;

 private:
  PlanHandle plan_;
};

// The inverse real transform from the half-plane n x (n/2+1) to n x n, unnormalised; it destroys
// its input.
class ProjectionPlan {
 public:
  explicit ProjectionPlan(int n);
  void execute(Complex* half_plane, float* out) const;

 private:
  PlanHandle plan_;
};

}  // namespace engine::cpu
