// What gpu_bench asks of the device itself: when kernels ran, how fast it copies, what it holds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_report.h"
#include "engine/cuda/launch_observer.h"

namespace bench {

// Opens device `number` and waits for it. Throws engine::Error, like everything here.
void open_device(int number);

// What the device says of itself: CUDA's name of each property, and its value. What its driver does
// not know is left out.
std::vector<std::pair<std::string, int64_t>> device_properties(int number);

// Lets a profiler that waits for this call look from here on.
void start_profiler();

// Bytes read and written per second by a large copy from the device to itself: the median of
// several.
double measure_copy();

uint64_t free_device_memory();

// For all work that was asked for so far.
void wait_for_device();

// Times everything that a device does, while it is switched on, with the device's own clock.
class KernelTimes : public engine::cuda::LaunchWatch {
 public:
  KernelTimes();
  ~KernelTimes() override;

  void before(const char* name, CUstream_st* stream) override;
  void after(const char* name, CUstream_st* stream) override;

  void switch_on() { on_ = true; }
  // Switches it off, waits for the device, and returns what ran meanwhile in the order of its first
  // launch.
  std::vector<KernelTime> take();

 private:
  struct Events;
  bool on_ = false;
  std::unique_ptr<Events> events_;
};

}  // namespace bench
