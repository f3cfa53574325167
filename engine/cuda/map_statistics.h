// Holds the statistics of a search on a device, and copies them to and from the host.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/device_concept.h"
#include "engine/cuda/statistics.cuh"

namespace engine::cuda {

template <typename Device>
class MapStatistics {
 public:
  // The statistics begin at zero. `device` must outlive this object.
  MapStatistics(Device& device, int height, int width)
      : device_(device),
        height_(height),
        width_(width),
        pixels_(static_cast<size_t>(height) * static_cast<size_t>(width)),
        best_(device, "the maxima", pixels_),
        sum_(device, "the sums", pixels_),
        squares_(device, "the sums of squares", pixels_),
        fault_(device, "the fault", 1),
        largest_(device, "the largest scores", kBestBlocks),
        faults_{Later(device), Later(device)} {
    device.clear(best_);
    device.clear(sum_);
    device.clear(squares_);
    device.clear(fault_);
  }

  Statistics on_device() { return {best_.data(), sum_.data(), squares_.data(), fault_.data()}; }

  // Throws InputError when a value or a sum has left its range; the message includes
  // `extreme_pixel`. It checks the work up to the previous call and waits for no more than that, so
  // that the device stays busy.
  void check_earlier(const std::string& extreme_pixel) {
    device_.fetch(fault_, faults_[checks_ % 2]);
    if (checks_++ > 0) refuse(faults_[checks_ % 2].get(), extreme_pixel);
  }

  // Waits for all work, checks it as check_earlier() does, and returns the statistics.
  Accumulators read(const std::string& extreme_pixel) const {
    static_assert(sizeof(unsigned long long) == sizeof(uint64_t));
    unsigned long long fault = 0;
    device_.download(fault_, &fault, 1);
    refuse(fault, extreme_pixel);
    Accumulators out(height_, width_);
    std::vector<unsigned long long> best(pixels_);
    std::vector<long long> sums(pixels_);
    device_.download(best_, best.data(), pixels_);
    std::copy(best.begin(), best.end(), out.best.begin());
    device_.download(sum_, sums.data(), pixels_);
    std::copy(sums.begin(), sums.end(), out.sum.begin());
    device_.download(squares_, sums.data(), pixels_);
    std::copy(sums.begin(), sums.end(), out.squares.begin());
    return out;
  }

  void restore(const Accumulators& a) {
    const std::vector<unsigned long long> best(a.best.begin(), a.best.end());
    device_.upload(best_, best.data(), pixels_);
    std::vector<long long> sums(a.sum.begin(), a.sum.end());
    device_.upload(sum_, sums.data(), pixels_);
    std::copy(a.squares.begin(), a.squares.end(), sums.begin());
    device_.upload(squares_, sums.data(), pixels_);
  }

  double best_z(int64_t correlations) {
    if (correlations < 2) return 0;
    constexpr int kThreads = kBlockThreads;
    const unsigned blocks = std::min(kBestBlocks, blocks_for(static_cast<int64_t>(pixels_)));
    device_.launch("find_best_z", find_best_z<kThreads>, dim3(blocks), dim3(kThreads),
                   kThreads * sizeof(double), on_device(), pixels_,
                   static_cast<double>(correlations), largest_.data());
    std::array<double, kBestBlocks> largest{};
    device_.download(largest_, largest.data(), blocks);
    return *std::max_element(largest.begin(), largest.begin() + blocks);
  }

 private:
  template <typename T>
  using Buffer = typename Device::template Buffer<T>;
  using Later = typename Device::template Later<unsigned long long>;
  static constexpr unsigned kBestBlocks = 256;

  void refuse(unsigned long long fault, const std::string& extreme_pixel) const {
    if (fault == 0) return;
    const int64_t pixel = 0xffffffffu - static_cast<uint32_t>(fault);
    refuse_sums(pixel / width_, pixel % width_, extreme_pixel);
  }

  Device& device_;
  const int height_, width_;
  const size_t pixels_;
  Buffer<unsigned long long> best_;
  Buffer<long long> sum_, squares_;
  Buffer<unsigned long long> fault_;
  Buffer<double> largest_;
  std::array<Later, 2> faults_;
  size_t checks_ = 0;
};

}  // namespace engine::cuda
