// Data of one search between its ranks. Every rank calls the same functions in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace engine {

// A rank is gone or silent: what this communicator was doing is lost, and it is of no further use.
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
  // What rank 0 has, to all.
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
