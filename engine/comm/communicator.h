// Exchanges the data of one search between its ranks: every rank calls the same functions in the
// same order, with the same lengths. A communicator may be used by one thread at a time. Integer
// results are the same to the bit for any number of ranks. Every function throws CommunicatorLost
// when a rank is gone, or has been silent for the ranks' timeout, and in every call after that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/huge_pages.h"

namespace engine {

// A rank is gone or silent; the communicator cannot be used again.
class CommunicatorLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::string name() const = 0;  // "alone", "gloo", "nccl"
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Copies rank 0's bytes to all ranks.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // These reduce element by element. Rank 0 gets the result; the other ranks' values are undefined
  // afterwards.
  virtual void reduce_max(std::span<uint64_t> values) = 0;
  virtual void reduce_sum(std::span<int64_t> values) = 0;
};

// Broadcasts rank 0's vector of plain values; the other ranks' vectors get its length.
template <typename T>
void share(Communicator& communicator, std::vector<T>& values) {
  auto count = static_cast<uint64_t>(values.size());
  communicator.broadcast(std::as_writable_bytes(std::span(&count, 1)));
  if (communicator.rank() != 0) {
    values.clear();
    base::resize_in_huge_pages(values, count);
  }
  communicator.broadcast(std::as_writable_bytes(std::span(values)));
}

}  // namespace engine
