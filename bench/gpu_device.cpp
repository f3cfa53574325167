#include "bench/gpu_device.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>

#include "engine/error.h"

namespace bench {
namespace {

void check(cudaError_t code, const char* activity) {
  if (code == cudaSuccess) return;
  throw engine::Error(engine::ExitCode::kDeviceFault,
                      std::string(activity) + ": " + cudaGetErrorString(code));
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  // Waits for it.
  double seconds_since(const Event& start) const {
    check(cudaEventSynchronize(event_), "waiting for an event");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "reading a time");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class Block {
 public:
  explicit Block(size_t bytes) { check(cudaMalloc(&data_, bytes), "taking memory for the copy"); }
  ~Block() { cudaFree(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  char* data() { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

// Noise: zeros may move faster.
void fill_with_noise(Block& block, size_t bytes) {
  std::vector<uint32_t> noise((size_t{1} << 24) / sizeof(uint32_t));
  std::mt19937 random(1);
  for (uint32_t& word : noise) word = static_cast<uint32_t>(random());
  const size_t piece = noise.size() * sizeof(uint32_t);
  for (size_t at = 0; at < bytes; at += piece) {
    check(cudaMemcpy(block.data() + at, noise.data(), std::min(piece, bytes - at),
                     cudaMemcpyHostToDevice),
          "filling memory with noise");
  }
}

}  // namespace

void wait_for_device() { check(cudaDeviceSynchronize(), "waiting for the device"); }

void open_device(int number) {
  check(cudaSetDevice(number), "opening the device");
  check(cudaFree(nullptr), "opening the device");
  wait_for_device();
}

std::vector<std::pair<std::string, int64_t>> device_properties(int number) {
  const std::pair<const char*, cudaDeviceAttr> wanted[] = {
      {"multiProcessorCount", cudaDevAttrMultiProcessorCount},
      {"l2CacheSize", cudaDevAttrL2CacheSize},
      {"persistingL2CacheMaxSize", cudaDevAttrMaxPersistingL2CacheSize},
      {"sharedMemPerMultiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
      {"sharedMemPerBlockOptin", cudaDevAttrMaxSharedMemoryPerBlockOptin},
      {"reservedSharedMemPerBlock", cudaDevAttrReservedSharedMemoryPerBlock},
      {"regsPerMultiprocessor", cudaDevAttrMaxRegistersPerMultiprocessor},
      {"maxThreadsPerMultiProcessor", cudaDevAttrMaxThreadsPerMultiProcessor},
      {"clockRate", cudaDevAttrClockRate},
      {"memoryClockRate", cudaDevAttrMemoryClockRate},
      {"memoryBusWidth", cudaDevAttrGlobalMemoryBusWidth},
      {"ECCEnabled", cudaDevAttrEccEnabled}};
  std::vector<std::pair<std::string, int64_t>> properties;
  for (const auto& [name, attribute] : wanted) {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, attribute, number) == cudaSuccess) {
      properties.emplace_back(name, value);
    } else {
      static_cast<void>(cudaGetLastError());
    }
  }
  return properties;
}

// Where profilers are not supported there is none to miss it.
void start_profiler() {
  if (cudaProfilerStart() != cudaSuccess) static_cast<void>(cudaGetLastError());
}

uint64_t free_device_memory() {
  size_t free = 0;
  size_t all = 0;
  check(cudaMemGetInfo(&free, &all), "asking for the free memory");
  return free;
}

double measure_copy() {
  // Far more than any cache holds.
  const size_t bytes = std::min<size_t>(size_t{4} << 30, free_device_memory() / 4);
  Block from(bytes);
  Block to(bytes);
  fill_with_noise(from, bytes);
  std::vector<double> rates;
  constexpr int kWarmUps = 3;
  constexpr int kRounds = 11;
  for (int round = 0; round < kWarmUps + kRounds; ++round) {
    Event start;
    Event end;
    start.record(nullptr);
    check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr),
          "copying on the device");
    end.record(nullptr);
    const double seconds = end.seconds_since(start);
    if (round >= kWarmUps) rates.push_back(2.0 * static_cast<double>(bytes) / seconds);
  }
  return spread_of(std::move(rates)).median;
}

struct KernelTimes::Events {
  struct Launch {
    std::string name;
    Event start, end;
  };
  std::vector<std::unique_ptr<Launch>> launches;
};

KernelTimes::KernelTimes() : events_(std::make_unique<Events>()) {}
KernelTimes::~KernelTimes() = default;

void KernelTimes::before(const char* name, CUstream_st* stream) {
  if (!on_) return;
  events_->launches.push_back(std::make_unique<Events::Launch>());
  events_->launches.back()->name = name;
  events_->launches.back()->start.record(stream);
}

void KernelTimes::after(const char*, CUstream_st* stream) {
  if (on_) events_->launches.back()->end.record(stream);
}

std::vector<KernelTime> KernelTimes::take() {
  on_ = false;
  wait_for_device();
  std::vector<KernelTime> times;
  for (const auto& launch : events_->launches) {
    auto found = std::find_if(times.begin(), times.end(),
                              [&](const KernelTime& time) { return time.name == launch->name; });
    if (found == times.end()) found = times.insert(times.end(), KernelTime{.name = launch->name});
    ++found->launches;
    found->seconds += launch->end.seconds_since(launch->start);
  }
  events_->launches.clear();
  return times;
}

}  // namespace bench
