// Kernels that want a barrier: found by the order of turns, and by the thread sanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "tests/fakes/simt.h"
#include "tests/unit/fakes/simt_sample.cuh"

namespace tests {
namespace {

using simt::launch;

constexpr int kRaceSeeds = 20;

// How many of the seeds let the kernel turn its values by so many places.
template <typename Value>
int lucky_seeds(void (*kernel)(const Value*, Value*), unsigned threads, int by) {
  std::vector<Value> in(threads);
  std::iota(in.begin(), in.end(), Value{1});
  std::vector<Value> expected = in;
  std::rotate(expected.begin(), expected.begin() + by, expected.end());
  int lucky = 0;
  for (int seed = 0; seed < kRaceSeeds; ++seed) {
    std::vector<Value> out(in.size());
    launch({.seed = static_cast<uint64_t>(seed)}, kernel, 1, threads, in.size() * sizeof(Value),
           in.data(), out.data());
    lucky += out == expected ? 1 : 0;
  }
  return lucky;
}

TEST(SimtRaces, AKernelWithItsBarriersIsRightInEveryOrder) {
  EXPECT_EQ(lucky_seeds<int>(rotate<true>, 256, 1), kRaceSeeds);
  EXPECT_EQ(lucky_seeds<int>(rotate<true>, 2, 1), kRaceSeeds);
  EXPECT_EQ(lucky_seeds<int>(rotate_twice<true>, 256, 2), kRaceSeeds);
  EXPECT_EQ(lucky_seeds<float>(rotate_in_warp<true>, 32, 1), kRaceSeeds);
}

TEST(SimtRaces, ABlockMayHaveAllTheThreadsThatADeviceAllows) {
  EXPECT_EQ(lucky_seeds<int>(rotate<true>, 1024, 1), kRaceSeeds);
}

// The last block adds up what all have left.
__global__ void sum_in_last_block(int* partial, unsigned* ended, int* total) {
  bool* last = shared_memory<bool>();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    *last = atomicAdd(ended, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (*last && threadIdx.x < gridDim.x) atomicAdd(total, partial[threadIdx.x]);
}

TEST(SimtRaces, AFenceAndAnAtomicPassWordFromBlockToBlock) {
  std::vector<int> partial(10);
  unsigned ended = 0;
  int total = 0;
  launch(sum_in_last_block, 10, 32, 1, partial.data(), &ended, &total);
  EXPECT_EQ(total, 55);
}

// The second warp reads what the first leaves after many shuffles.
__global__ void shuffle_then_hand_over(int* out) {
  int* buffer = shared_memory<int>();
  buffer[threadIdx.x] = 0;
  __syncthreads();
  int mine = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 40; ++i) mine = __shfl_xor_sync(0xffffffffu, mine, 1 + i % 31);
  if (threadIdx.x < 32) buffer[threadIdx.x] = 1;
  if (threadIdx.x == 63) *out = buffer[0];
}

#ifndef __SANITIZE_THREAD__

TEST(SimtRaces, AMissingBarrierIsNoticed) {
  EXPECT_EQ(lucky_seeds<int>(rotate<false>, 256, 1), 0);
  EXPECT_LT(lucky_seeds<int>(rotate<false>, 2, 1), kRaceSeeds) << "with few threads some seeds are";
}

TEST(SimtRaces, AMissingBarrierBeforeABufferIsUsedAgainIsNoticed) {
  EXPECT_EQ(lucky_seeds<int>(rotate_twice<false>, 256, 2), 0);
}

TEST(SimtRaces, AMissingBarrierOfAWarpIsNoticed) {
  EXPECT_EQ(lucky_seeds<float>(rotate_in_warp<false>, 32, 1), 0);
}

TEST(SimtRaces, AWarpMayRunFarAheadOfAnother) {
  std::set<int> seen;
  for (uint64_t seed = 0; seed < kRaceSeeds; ++seed) {
    int out = -1;
    launch({.seed = seed}, shuffle_then_hand_over, 1, 64, 64 * sizeof(int), &out);
    seen.insert(out);
  }
  EXPECT_THAT(seen, testing::ElementsAre(0, 1));
}

#else

constexpr int kExitAfterReports = 66;

// One seed is enough: the thread sanitizer sees that nothing orders the two.
#define EXPECT_RACE(...) \
  EXPECT_EXIT((__VA_ARGS__, std::exit(0)), testing::ExitedWithCode(kExitAfterReports), "data race")

__global__ void add_without_atomic(int* out) {
  int* sum = shared_memory<int>();
  if (threadIdx.x == 0) *sum = 0;
  __syncthreads();
  *sum += 1;
  __syncthreads();
  if (threadIdx.x == 0) *out = *sum;
}

__global__ void take_a_shuffle_for_a_barrier(int* out) {
  int* buffer = shared_memory<int>();
  buffer[threadIdx.x] = static_cast<int>(threadIdx.x);
  __shfl_sync(0xffffffffu, 0, 0);
  out[threadIdx.x] = buffer[threadIdx.x ^ 1];
}

__global__ void add_from_all_blocks(int* out) { out[threadIdx.x] += 1; }

TEST(SimtRacesDeathTest, AMissingBarrierIsNoticed) {
  const std::vector<int> in(64);
  std::vector<int> out(64);
  EXPECT_RACE(launch(rotate<false>, 1, 64, 64 * sizeof(int), in.data(), out.data()));
  EXPECT_RACE(launch(rotate_twice<false>, 1, 64, 64 * sizeof(int), in.data(), out.data()));
  EXPECT_RACE(launch(shuffle_then_hand_over, 1, 64, 64 * sizeof(int), out.data()));
}

TEST(SimtRacesDeathTest, AMissingBarrierOfAWarpIsNoticed) {
  const std::vector<float> in(32);
  std::vector<float> out(32);
  std::vector<int> lanes(32);
  EXPECT_RACE(launch(rotate_in_warp<false>, 1, 32, 32 * sizeof(float), in.data(), out.data()));
  EXPECT_RACE(launch(take_a_shuffle_for_a_barrier, 1, 32, 32 * sizeof(int), lanes.data()));
}

TEST(SimtRacesDeathTest, AMissingAtomicIsNoticed) {
  std::vector<int> out(32);
  EXPECT_RACE(launch(add_without_atomic, 1, 64, sizeof(int), out.data()));
}

TEST(SimtRacesDeathTest, BlocksThatWriteTheSameWordAreNoticed) {
  std::vector<int> out(32);
  EXPECT_RACE(launch(add_from_all_blocks, 4, 32, 0, out.data()));
}

#endif

}  // namespace
}  // namespace tests
