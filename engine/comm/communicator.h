// Exchanges the data of one search between its ranks: every rank calls the same functions in the
// same order, with the same lengths. For one thread at a time. Integer results are the same to the
// bit for any number of ranks. Every function throws CommunicatorLost when a rank is gone or silent
// for the ranks' timeout, and from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

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
  // Copies rank 0's bytes to all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Element by element; the result is rank 0's, the others' values are undefined afterwards.
  virtual void reduce_max(std::span<uint64_t> values) = 0;
  virtual void reduce_sum(std::span<int64_t> values) = 0;
};

// Broadcasts a vector of plain values, of a length that only rank 0 knows.
template <typename T>
void share(Communicator& communicator, std::vector<T>& values) {
  auto count = static_cast<uint64_t>(values.size());
  communicator.broadcast(std::as_writable_bytes(std::span(&count, 1)));
  values.resize(count);
  communicator.broadcast(std::as_writable_bytes(std::span(values)));
}

}  // namespace engine
