// The runner itself: what it must get right for kernels that are right, and what it must not let
// pass in kernels that are wrong.
#include "tests/fakes/simt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/fakes/simt_sample.cuh"

namespace tests {
namespace {

using simt::KernelError;
using simt::launch;
using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kSeeds = 20;

std::vector<int> counted(size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

template <typename Launch>
std::string error_of(const Launch& launched) {
  try {
    launched();
  } catch (const KernelError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Simt, ASumOverBlocksIsTheSameInEveryOrder) {
  const std::vector<int> values = counted(1000);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    unsigned long long total = 0;
    launch({.seed = seed}, sum<256>, 4, 256, 256 * sizeof(int), values.data(), 1000, &total);
    EXPECT_EQ(total, 500500u) << "seed " << seed;
  }
}

__global__ void write_order(int* order, int* count) {
  order[atomicAdd(count, 1)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

std::vector<int> order_of(uint64_t seed, unsigned blocks, unsigned threads) {
  std::vector<int> order(size_t{blocks} * threads);
  int count = 0;
  launch({.seed = seed}, write_order, blocks, threads, 0, order.data(), &count);
  return order;
}

TEST(Simt, TheSeedDecidesTheOrderOfBlocksAndOfThreads) {
  for (const auto& [blocks, threads] : {std::pair{32u, 1u}, std::pair{1u, 32u}, {1u, 256u}}) {
    std::vector<int> order = order_of(1, blocks, threads);
    EXPECT_EQ(order, order_of(1, blocks, threads));
    EXPECT_NE(order, order_of(2, blocks, threads));
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    std::vector<int> all(order.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all) << "each once";
  }
}

__global__ void write_places(uint3* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = {blockIdx.z, threadIdx.z,
                                                                threadIdx.y};
}

TEST(Simt, BlocksAndThreadsHaveThreeCoordinates) {
  std::vector<uint3> out(2 * 3 * 4 * 5 * 6 * 7);
  launch(write_places, {2, 3, 4}, {5, 6, 7}, 0, out.data());
  for (unsigned i = 0; i < out.size(); ++i) {
    const unsigned thread = i % 210;
    ASSERT_EQ(out[i].x, i / 210 / 6);
    ASSERT_EQ(out[i].y, thread / 30);
    ASSERT_EQ(out[i].z, thread / 5 % 6);
  }
}

__global__ void copy_shared(uint64_t* out) {
  const auto* shared = shared_memory<uint64_t>();
  out[blockIdx.x * blockDim.x + threadIdx.x] = shared[threadIdx.x];
}

TEST(Simt, SharedMemoryIsFullOfGarbageForEveryBlock) {
  std::vector<uint64_t> out(4 * 16);
  launch(copy_shared, 4, 16, 16 * sizeof(uint64_t), out.data());
  EXPECT_EQ(std::set<uint64_t>(out.begin(), out.end()).size(), out.size());
}

__global__ void write_shared(int at) { shared_memory<char>()[at] = 1; }

#ifdef __SANITIZE_ADDRESS__
TEST(SimtDeathTest, TheAddressSanitizerSeesWhoLeavesSharedMemory) {
  launch(write_shared, 1, 1, 100, 99);
  EXPECT_DEATH(launch(write_shared, 1, 1, 100, 100), "heap-buffer-overflow");
  EXPECT_DEATH(launch(write_shared, 1, 1, 100, -1), "heap-buffer-overflow");
}
#endif

__global__ void barrier_for_some(int some) {
  if (static_cast<int>(threadIdx.x) < some) __syncthreads();
  __syncthreads();
}

TEST(Simt, ABarrierThatNotAllThreadsReachIsAnError) {
  EXPECT_NO_THROW(launch(barrier_for_some, 2, 64, 0, 64));
  EXPECT_NO_THROW(launch(barrier_for_some, 2, 64, 0, 0));
  EXPECT_THAT(
      error_of([] { launch({.kernel = "barrier_for_some"}, barrier_for_some, 1, 64, 0, 5); }),
      AllOf(HasSubstr("kernel barrier_for_some, block (0,0,0), thread (0,0,0) waits for ever"),
            HasSubstr("5 wait at the barrier at simt_test.cpp:"),
            HasSubstr("59 wait at the barrier at simt_test.cpp:"),
            HasSubstr("the first being (5,0,0)")));
}

__global__ void barrier_for_some_while_others_end(int some, int* out) {
  if (static_cast<int>(threadIdx.x) >= some) return;
  __syncthreads();
  atomicAdd(out, 1);
}

TEST(Simt, AThreadThatHasEndedCountsAsArrived) {
  int out = 0;
  launch(barrier_for_some_while_others_end, 1, 64, 0, 5, &out);
  EXPECT_EQ(out, 5);
}

__global__ void barrier_against_warp() {
  if (threadIdx.x == 40) {
    __syncthreads();
  } else {
    __syncwarp();
    __syncthreads();
  }
}

TEST(Simt, ALaneThatDoesNotComeIsAnError) {
  EXPECT_THAT(error_of([] { launch({.kernel = "mixed"}, barrier_against_warp, 1, 64, 0); }),
              AllOf(HasSubstr("kernel mixed, block (0,0,0), thread (0,0,0) waits for ever"),
                    HasSubstr("31 wait in __syncwarp with the mask 0xffffffff at simt_test.cpp:"),
                    HasSubstr("the first being (40,0,0)")));
}

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

__global__ void throw_in_one(int which, int* unwound, int* went_on) {
  struct Notes {
    int* unwound;
    ~Notes() { ++std::atomic_ref<int>(*unwound); }
  };
  const Notes notes{unwound};
  const auto thread = static_cast<int>(threadIdx.x);
  const std::vector<int> on_the_heap(10, which);
  __syncthreads();
  if (on_the_heap[0] == thread) throw Refusal("thread " + std::to_string(thread));
  __syncthreads();
  atomicAdd(went_on, 1);
}

TEST(Simt, WhatAThreadThrowsIsThrownByLaunchAfterTheOthersWereUnwound) {
  int unwound = 0;
  int went_on = 0;
  try {
    launch(throw_in_one, 3, 64, 0, 17, &unwound, &went_on);
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "thread 17");
  }
  EXPECT_EQ(unwound, 64) << "one block, and none after it";
  EXPECT_EQ(went_on, 0);
  unwound = 0;
  EXPECT_NO_THROW(launch(throw_in_one, 3, 64, 0, -1, &unwound, &went_on))
      << "the next launch is in order";
  EXPECT_EQ(unwound, 3 * 64);
  EXPECT_EQ(went_on, 3 * 64);
}

__global__ void launch_from_inside() { launch(barrier_for_some, 1, 1, 0, 1); }

TEST(Simt, ALaunchThatADeviceWouldRefuseIsAnError) {
  const simt::Options options{.kernel = "big", .shared_limit = 100};
  const auto refused = [&](dim3 grid, dim3 block, size_t bytes) {
    return error_of([&] { launch(options, write_shared, grid, block, bytes, 0); });
  };
  EXPECT_EQ(refused(1, 1, 100), "no error");
  EXPECT_THAT(refused(1, 1, 101),
              HasSubstr("kernel big cannot be launched: 101 bytes of shared memory"));
  EXPECT_THAT(refused(1, 1025, 100), HasSubstr("1025 x 1 x 1 threads"));
  EXPECT_THAT(refused({1, 65536}, 1, 100), HasSubstr("1 x 65536 x 1 blocks"));
  EXPECT_THAT(refused(0, 1, 100), HasSubstr("0 x 1 x 1 blocks"));
  EXPECT_THAT(error_of([] { launch(launch_from_inside, 1, 1, 0); }), HasSubstr("is running"));
}

TEST(Simt, AWordOfTheDeviceOutsideOfAKernelIsAnError) {
  EXPECT_THROW(__syncthreads(), std::logic_error);
}

int depth_of(int n, volatile char* above) {
  volatile char here[64] = {};
  here[0] = above[0];
  return n == 0 ? here[0] : depth_of(n - 1, here) + here[1];
}
__global__ void use_much_stack(int depth, int* out) {
  volatile char here = 1;
  __syncthreads();
  out[threadIdx.x] = depth_of(depth, &here);
  __syncthreads();
}

TEST(Simt, AThreadHasRoomOnItsStack) {
  std::vector<int> out(64);
  launch(use_much_stack, 1, 64, 0, 200, out.data());
  EXPECT_THAT(out, testing::Each(1));
}

}  // namespace
}  // namespace tests
