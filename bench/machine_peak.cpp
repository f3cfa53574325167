#include "bench/machine_peak.h"

#include <hwy/cache_control.h>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/machine_peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;

// Returns the operations of `rounds` rounds. Ten sums cover a latency of 4 cycles in 2 units and
// fit, with both constants, into 16 registers; a processor with more units can do more. They begin
// with different values, since the compiler would otherwise compute one for all.
double multiply_and_add(size_t rounds, float* out) {
  const Floats d;
  const auto factor = hn::Set(d, 0.999F), summand = hn::Set(d, 0.001F);
  auto a = hn::Set(d, 0.0F), b = hn::Set(d, 0.1F), c = hn::Set(d, 0.2F), e = hn::Set(d, 0.3F);
  auto f = hn::Set(d, 0.4F), g = hn::Set(d, 0.5F), h = hn::Set(d, 0.6F), i = hn::Set(d, 0.7F);
  auto j = hn::Set(d, 0.8F), k = hn::Set(d, 0.9F);
  for (size_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, factor, summand);
    b = hn::MulAdd(b, factor, summand);
    c = hn::MulAdd(c, factor, summand);
    e = hn::MulAdd(e, factor, summand);
    f = hn::MulAdd(f, factor, summand);
    g = hn::MulAdd(g, factor, summand);
    h = hn::MulAdd(h, factor, summand);
    i = hn::MulAdd(i, factor, summand);
    j = hn::MulAdd(j, factor, summand);
    k = hn::MulAdd(k, factor, summand);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)),
                           hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), hn::Add(j, k)));
  hn::StoreU(sum, d, out);
  return 2.0 * 10 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}

void write_past_caches(float* to, size_t floats) {
  const Floats d;
  // Some processors write zeros faster.
  const auto value = hn::Set(d, 1.5F);
  for (size_t i = 0; i < floats; i += hn::Lanes(d)) hn::Stream(value, d, to + i);
  hwy::FlushStream();
}

float sum_of(const float* from, size_t floats) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (size_t i = 0; i < floats; i += 4 * lanes) {
    a = hn::Add(a, hn::Load(d, from + i));
    b = hn::Add(b, hn::Load(d, from + i + lanes));
    c = hn::Add(c, hn::Load(d, from + i + 2 * lanes));
    e = hn::Add(e, hn::Load(d, from + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace HWY_NAMESPACE
}  // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

namespace bench {

HWY_EXPORT(multiply_and_add);
HWY_EXPORT(write_past_caches);
HWY_EXPORT(sum_of);

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kTries = 5;
using Rates = std::array<double, kTries>;

// The amount that this thread does in a second, from the common start to the end of the last
// thread.
template <typename Work>
Rates rates(std::barrier<>& together, const Work& work) {
  Rates all{};
  for (double& rate : all) {
    together.arrive_and_wait();
    const auto start = Clock::now();
    const double amount = work();
    together.arrive_and_wait();
    rate = amount / std::chrono::duration<double>(Clock::now() - start).count();
  }
  return all;
}

struct RatesOfThread {
  Rates operations, write, read;
};

RatesOfThread rates_of_thread(std::barrier<>& together) {
  constexpr size_t kFloats = size_t{1} << 26;
  constexpr double kBytes = sizeof(float) * static_cast<double>(kFloats);
  const auto memory = hwy::AllocateAligned<float>(kFloats);
  std::fill_n(memory.get(), kFloats, 1.0F);
  volatile float used = 0;
  RatesOfThread of{};
  of.operations = rates(together, [&] {
    return HWY_DYNAMIC_DISPATCH(multiply_and_add)(size_t{10'000'000}, memory.get());
  });
  of.write = rates(together, [&] {
    HWY_DYNAMIC_DISPATCH(write_past_caches)(memory.get(), kFloats);
    return kBytes;
  });
  of.read = rates(together, [&] {
    used = used + HWY_DYNAMIC_DISPATCH(sum_of)(memory.get(), kFloats);
    return kBytes;
  });
  return of;
}

// Of all threads in the same try, the best try: other work on the machine leaves some alone.
double best_of(const std::vector<RatesOfThread>& threads, Rates RatesOfThread::*what) {
  double best = 0;
  for (size_t i = 0; i < kTries; ++i) {
    double together = 0;
    for (const RatesOfThread& thread : threads) together += (thread.*what)[i];
    best = std::max(best, together);
  }
  return best;
}

}  // namespace

MachinePeak measure_peak(int threads) {
  std::barrier<> together(threads);
  std::vector<RatesOfThread> measured(static_cast<size_t>(threads));
  std::vector<std::jthread> running;
  for (RatesOfThread& one : measured) {
    running.emplace_back([&] { one = rates_of_thread(together); });
  }
  running.clear();
  return {.operations = best_of(measured, &RatesOfThread::operations),
          .read = best_of(measured, &RatesOfThread::read),
          .write = best_of(measured, &RatesOfThread::write)};
}

}  // namespace bench
#endif  // HWY_ONCE
