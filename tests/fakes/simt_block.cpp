#include "tests/fakes/simt_block.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "tests/fakes/simt_team.h"

constinit thread_local uint3 threadIdx{0, 0, 0};
constinit thread_local uint3 blockIdx{0, 0, 0};
constinit thread_local dim3 blockDim{1, 1, 1};
constinit thread_local dim3 gridDim{1, 1, 1};

namespace tests::simt {
namespace {

constexpr size_t kCopied = 16;  // bytes of a copy that a thread does not wait for
constexpr int kGarbage = 0xff;  // not a number in every precision

constinit thread_local BlockRunner* runner = nullptr;

// The body of a fiber: one thread of one block after another.
void run_threads_forever(void*) {
  while (true) running_block().run_thread();
}

uint64_t count_of(const dim3& size) { return uint64_t{size.x} * size.y * size.z; }

uint3 index_of(uint64_t number, const dim3& size) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

std::string text_of(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

// What a device refuses too.
void check(const Launch& launch) {
  const auto refuse = [&](const std::string& what) {
    throw KernelError("kernel " + launch.options.kernel + " cannot be launched: " + what);
  };
  if (runner != nullptr) refuse("a kernel is running");
  const uint64_t threads = count_of(launch.block);
  if (threads == 0 || threads > 1024 || launch.block.z > 64) {
    refuse("a block of " + text_of(launch.block) + " threads (1 to 1024, z up to 64)");
  }
  const dim3& grid = launch.grid;
  if (count_of(grid) == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    refuse("a grid of " + text_of(grid) + " blocks (from 1, y and z up to 65535)");
  }
  if (launch.shared_bytes > launch.options.shared_limit) {
    refuse(std::to_string(launch.shared_bytes) + " bytes of shared memory (the limit is " +
           std::to_string(launch.options.shared_limit) + ")");
  }
}

// A kernel is running from the one to the other, whatever is thrown.
class Running {
 public:
  Running(BlockRunner& block, const Launch& launch) {
    runner = &block;
    blockDim = launch.block;
    gridDim = launch.grid;
  }
  ~Running() { runner = nullptr; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

}  // namespace

BlockRunner& running_block() {
  if (runner == nullptr) throw std::logic_error("a word of the device outside of a kernel");
  return *runner;
}

void run(const Launch& launch) {
  check(launch);
  Random random(launch.options.seed);
  std::vector<uint64_t> order(count_of(launch.grid));
  std::iota(order.begin(), order.end(), uint64_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);

  BlockRunner block(launch, Team::of_this_thread(), random.next());
  const Running running(block, launch);
  for (const uint64_t number : order) block.run(index_of(number, launch.grid));
}

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

// Not each with the same chance: after a gap a bit comes more often. Every order can happen.
unsigned Random::one_of(uint32_t bits) {
  const auto start = static_cast<int>(next() & 31);
  return static_cast<unsigned>(start + std::countr_zero(std::rotr(bits, start))) & 31;
}

BlockRunner::BlockRunner(const Launch& launch, Team& team, uint64_t seed)
    : launch_(launch), team_(team), random_(seed), threads_(count_of(launch.block)) {
  for (size_t i = 0; i < threads_.size(); ++i) threads_[i].index = index_of(i, launch.block);
  team_.grow_to(threads_.size(), run_threads_forever);
}

// Those that run after the launch know all that the kernel has done.
BlockRunner::~BlockRunner() {
  for (const Thread& thread : threads_) acquire_at(&thread.came);
}

// A thread of the next block is another fiber, so that the thread sanitizer sees two threads where
// two blocks meet in one word of memory.
Fiber& BlockRunner::fiber_of(unsigned thread) {
  return team_.fiber((thread + first_fiber_) % threads_.size());
}

void BlockRunner::start_block() {
  unfinished_ = static_cast<unsigned>(threads_.size());
  stopping_ = false;
  failure_ = nullptr;
  warps_ = {};
  for (unsigned i = 0; i < unfinished_; ++i) {
    warps_[i / 32].alive |= 1u << i % 32;
    threads_[i].copies.clear();
    threads_[i].closed = 0;
    make_ready(i);
  }
  keep_to_one_warp_ = random_.next() % 2 == 0;
  fill_shared();
  meetings_ = std::make_unique<Meetings>();
  first_fiber_ = random_.next() % threads_.size();
  for (const Thread& thread : threads_) release_at(&thread.goes);
}

void BlockRunner::end_block() {
  team_.undertaker().enter();
  for (const Thread& thread : threads_) acquire_at(&thread.came);
  shared_.reset();
  meetings_.reset();
  team_.undertaker().leave();
}

// A buffer of its own for each block and not a byte too many, so that the address sanitizer sees
// who leaves it.
void BlockRunner::fill_shared() {
  shared_ = std::make_unique_for_overwrite<std::byte[]>(launch_.shared_bytes);
  for (size_t i = 0; i < launch_.shared_bytes; i += sizeof(uint64_t)) {
    const uint64_t garbage = random_.next();
    std::memcpy(&shared_[i], &garbage, std::min(sizeof garbage, launch_.shared_bytes - i));
  }
}

void BlockRunner::run(uint3 index) {
  blockIdx = index;
  start_block();
  while (unfinished_ > 0) {
    if (warps_ready_ == 0) go_on_after_all_wait();
    const unsigned next = pick();
    enter(next);
    team_.caller().switch_to(fiber_of(next));
  }
  end_block();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BlockRunner::run_thread() {
  finish(call_kernel());
  pass_turn();
}

std::exception_ptr BlockRunner::call_kernel() {
  acquire_at(&threads_[running_].goes);
  try {
    if (!stopping_) launch_.thread();
  } catch (const Stopped&) {
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void BlockRunner::make_ready(unsigned thread) {
  threads_[thread].state = State::kReady;
  warps_[thread / 32].ready |= 1u << thread % 32;
  warps_ready_ |= 1u << thread / 32;
}

// Between two barriers either any thread may be next, or a warp runs on as far as it can: then it
// runs ahead of the others over many shuffles, which single turns would hardly ever do.
unsigned BlockRunner::pick() {
  const unsigned last = running_ / 32;
  const bool stay = keep_to_one_warp_ && (warps_ready_ >> last & 1) != 0;
  const unsigned warp = stay ? last : random_.one_of(warps_ready_);
  const unsigned lane = random_.one_of(warps_[warp].ready);
  warps_[warp].ready &= ~(1u << lane);
  if (warps_[warp].ready == 0) warps_ready_ &= ~(1u << warp);
  return warp * 32 + lane;
}

void BlockRunner::enter(unsigned thread) {
  running_ = thread;
  threads_[thread].state = State::kRunning;
  threadIdx = threads_[thread].index;
}

// Nothing of this block may be touched after the switch: the fiber of a thread that has ended goes
// on in another block, of another launch perhaps.
void BlockRunner::pass_turn() {
  Fiber& mine = fiber_of(running_);
  if (warps_ready_ == 0) {
    mine.switch_to(team_.caller());
    return;
  }
  const unsigned self = running_;
  const unsigned next = pick();
  enter(next);
  if (next != self) mine.switch_to(fiber_of(next));
}

void BlockRunner::wait_for_turn() {
  pass_turn();
  if (stopping_) throw Stopped{};
}

void BlockRunner::yield() {
  make_ready(running_);
  wait_for_turn();
}

void BlockRunner::fence() {
  release_at(&fences_);
  yield();
  acquire_at(&fences_);
}

void BlockRunner::copy_ahead(void* shared, const void* global) {
  if (reinterpret_cast<uintptr_t>(shared) % kCopied != 0 ||
      reinterpret_cast<uintptr_t>(global) % kCopied != 0) {
    fail(running_, "copies 16 bytes that are not aligned to 16");
  }
  std::memset(shared, kGarbage, kCopied);
  threads_[running_].copies.push_back({shared, global});
}
void BlockRunner::close_copies() { threads_[running_].closed = threads_[running_].copies.size(); }
void BlockRunner::wait_for_copies() {
  Thread& thread = threads_[running_];
  for (size_t i = 0; i < thread.closed; ++i) {
    std::memcpy(thread.copies[i].to, thread.copies[i].from, kCopied);
  }
  thread.copies.erase(thread.copies.begin(),
                      thread.copies.begin() + static_cast<ptrdiff_t>(thread.closed));
  thread.closed = 0;
  yield();
}

void BlockRunner::finish(const std::exception_ptr& failure) {
  release_at(&threads_[running_].came);
  threads_[running_].state = State::kDone;
  warps_[running_ / 32].alive &= ~(1u << running_ % 32);
  --unfinished_;
  if (stopping_) return;
  try {
    if (failure) std::rethrow_exception(failure);
    settle_without(running_);
  } catch (...) {
    stop(std::current_exception());
  }
}

void BlockRunner::stop(std::exception_ptr failure) {
  failure_ = std::move(failure);
  stopping_ = true;
  for (unsigned i = 0; i < threads_.size(); ++i) {
    if (threads_[i].state != State::kDone && threads_[i].state != State::kRunning) make_ready(i);
  }
}

}  // namespace tests::simt
