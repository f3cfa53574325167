// What the tests of kernels and of whole searches share, on the CPU (tests/fakes/simt_device.h) and
// on a real device (tests/gpu). A Maker has
//   using Device                 of engine/cuda/device_concept.h
//   static std::string missing() why no device can be had here; empty: one can
//   static std::unique_ptr<Device> make()
//   static bool large_cases()    true where larger cases cost nothing
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/cuda/device_concept.h"
#include "tests/require.h"

namespace tests {

using Complex = std::complex<float>;

template <typename Maker>
class OnDevice : public testing::Test {
 protected:
  using Device = typename Maker::Device;
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;

  void SetUp() override {
    const std::string missing = Maker::missing();
    if (!missing.empty()) MARGAY_SKIP_FOR_WANT_OF("gpu", missing);
    device_ = Maker::make();
  }

  template <typename T>
  Buffer<T> put(const std::vector<T>& values) {
    Buffer<T> buffer(*device_, "a test's array", values.size());
    device_->upload(buffer, values.data(), values.size());
    return buffer;
  }
  Buffer<float2> put(const std::vector<Complex>& values) {
    Buffer<float2> buffer(*device_, "a test's array", values.size());
    device_->upload(buffer, reinterpret_cast<const float2*>(values.data()), values.size());
    return buffer;
  }
  template <typename T>
  Buffer<T> space(size_t count) {
    return Buffer<T>(*device_, "a test's array", count);
  }
  template <typename T>
  std::vector<T> get(const Buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    device_->download(buffer, values.data(), values.size());
    return values;
  }
  std::vector<Complex> get(const Buffer<float2>& buffer) {
    std::vector<Complex> values;
    for (const float2 v : get<float2>(buffer)) values.emplace_back(v.x, v.y);
    return values;
  }

  std::unique_ptr<Device> device_;
};

inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

inline std::vector<Complex> random_complex(size_t count, unsigned seed) {
  const std::vector<float> parts = random_floats(2 * count, seed);
  std::vector<Complex> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = {parts[2 * i], parts[2 * i + 1]};
  return values;
}

// Largest difference over the largest value.
template <typename T>
double difference(const std::vector<T>& values, const std::vector<T>& expected) {
  if (values.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  double largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double d = std::abs(values[i] - expected[i]);
    if (!(d <= most)) most = d;  // NaN, too
    largest = std::max(largest, static_cast<double>(std::abs(expected[i])));
  }
  return most / largest;
}

}  // namespace tests
