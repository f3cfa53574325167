// CUDA's functions that synchronise the threads of a block. Each lets other threads run first.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tests/fakes/simt_block.h"

// As many bytes as the launch asked for, aligned to 16, full of garbage when a block starts.
template <typename T>
T* shared_memory() {
  return reinterpret_cast<T*>(tests::simt::running_block().shared());
}

inline void __syncthreads(tests::simt::Place where = tests::simt::Place::here()) {
  tests::simt::running_block().barrier(false, where);
}
inline int __syncthreads_count(int predicate,
                               tests::simt::Place where = tests::simt::Place::here()) {
  return static_cast<int>(tests::simt::running_block().barrier(predicate != 0, where));
}
inline int __syncthreads_or(int predicate, tests::simt::Place where = tests::simt::Place::here()) {
  return tests::simt::running_block().barrier(predicate != 0, where) > 0 ? 1 : 0;
}
inline int __syncthreads_and(int predicate, tests::simt::Place where = tests::simt::Place::here()) {
  return tests::simt::running_block().barrier(predicate == 0, where) == 0 ? 1 : 0;
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       tests::simt::Place where = tests::simt::Place::here()) {
  tests::simt::running_block().exchange(
      {.word = tests::simt::WarpWord::kSync, .mask = mask, .where = where});
}

// Begins to copy: what waits is garbage until the thread waits for it.
inline void copy_16_bytes_ahead(void* shared, const void* global) {
  tests::simt::traffic.read_once.fetch_add(16, std::memory_order_relaxed);
  tests::simt::running_block().copy_ahead(shared, global);
}
inline void close_copies_ahead() { tests::simt::running_block().close_copies(); }
inline void wait_for_copies_ahead() { tests::simt::running_block().wait_for_copies(); }

inline void __threadfence_block() { tests::simt::running_block().fence(); }
inline void __threadfence() { tests::simt::running_block().fence(); }

namespace tests::simt {

template <typename T>
T shuffle(WarpWord word, unsigned mask, T value, unsigned source, Place where) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  WarpCall call{.word = word, .mask = mask, .source = source, .where = where};
  std::memcpy(&call.bits, &value, sizeof value);
  const uint64_t bits = running_block().exchange(call);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline unsigned vote(unsigned mask, bool yes, Place where) {
  return static_cast<unsigned>(running_block().exchange(
      {.word = WarpWord::kVote, .mask = mask, .bits = yes ? 1u : 0u, .where = where}));
}

template <typename T, typename... Types>
concept OneOf = (std::same_as<T, Types> || ...);

template <typename T, typename Change>
T change(T* address, const Change& changed) {
  running_block().yield();
  const std::atomic_ref<T> word(*address);  // for the thread sanitizer
  const T old = word.load(std::memory_order_relaxed);
  word.store(changed(old), std::memory_order_relaxed);
  return old;
}

}  // namespace tests::simt

// The lanes fall into groups of `width`, a power of two; who asks for a lane outside of its group
// gets its own value (the exclusive-or one may look into groups before its own).
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              tests::simt::Place where = tests::simt::Place::here()) {
  const auto w = static_cast<unsigned>(width);
  const unsigned lane = tests::simt::running_block().lane();
  const unsigned from = (lane & ~(w - 1)) | (static_cast<unsigned>(source) & (w - 1));
  return tests::simt::shuffle(tests::simt::WarpWord::kShuffle, mask, value, from, where);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 tests::simt::Place where = tests::simt::Place::here()) {
  const unsigned lane = tests::simt::running_block().lane();
  const unsigned in_group = lane & (static_cast<unsigned>(width) - 1);
  const unsigned from = delta > in_group ? lane : lane - delta;
  return tests::simt::shuffle(tests::simt::WarpWord::kShuffleUp, mask, value, from, where);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   tests::simt::Place where = tests::simt::Place::here()) {
  const unsigned lane = tests::simt::running_block().lane();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1);
  const unsigned from = delta > last - lane ? lane : lane + delta;
  return tests::simt::shuffle(tests::simt::WarpWord::kShuffleDown, mask, value, from, where);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                  tests::simt::Place where = tests::simt::Place::here()) {
  const unsigned lane = tests::simt::running_block().lane();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1);
  const unsigned wanted = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned from = wanted > last ? lane : wanted;
  return tests::simt::shuffle(tests::simt::WarpWord::kShuffleXor, mask, value, from, where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              tests::simt::Place where = tests::simt::Place::here()) {
  return tests::simt::vote(mask, predicate != 0, where);
}
inline int __any_sync(unsigned mask, int predicate,
                      tests::simt::Place where = tests::simt::Place::here()) {
  return tests::simt::vote(mask, predicate != 0, where) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      tests::simt::Place where = tests::simt::Place::here()) {
  return tests::simt::vote(mask, predicate == 0, where) == 0 ? 1 : 0;
}

// For the types that CUDA has them for and no others.
template <tests::simt::OneOf<int, unsigned, unsigned long long, float, double> T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) {
    if constexpr (std::same_as<T, int>) {
      return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
    } else {
      return static_cast<T>(old + value);
    }
  });
}
template <tests::simt::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) { return old < value ? value : old; });
}
template <tests::simt::OneOf<int, unsigned, long long, unsigned long long> T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) { return value < old ? value : old; });
}
template <tests::simt::OneOf<int, unsigned, unsigned long long, float> T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T) { return value; });
}
template <tests::simt::OneOf<int, unsigned, unsigned long long> T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) { return old == expected ? value : old; });
}
template <tests::simt::OneOf<int, unsigned, unsigned long long> T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) { return old | value; });
}
template <tests::simt::OneOf<int, unsigned, unsigned long long> T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return tests::simt::change(address, [&](T old) { return old & value; });
}
