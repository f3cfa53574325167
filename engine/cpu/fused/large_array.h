// Memory for the large arrays of a search: zeros, in huge pages where the system grants them.
#pragma once

#include <cstddef>
#include <memory>

namespace engine::cpu::fused {

// Null for 0 bytes.
void* map_zeros(size_t bytes);
void discard(void* data, size_t bytes);
struct Unmap {
  size_t bytes = 0;
  void operator()(void* data) const;
};

// Of floats or integers.
template <typename T>
class LargeArray {
 public:
  LargeArray() = default;
  // Throws std::bad_alloc where there is no memory.
  explicit LargeArray(size_t count)
      : data_(static_cast<T*>(map_zeros(count * sizeof(T))), Unmap{count * sizeof(T)}) {}

  // Begins at a multiple of 64 bytes.
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) const { return data_.get()[i]; }
  // The memory goes back to the system until it is next written, and is zeros again. Where the
  // system does not take it, since it is locked, all stays as it is.
  void give_back() { discard(data_.get(), data_.get_deleter().bytes); }

 private:
  std::unique_ptr<T[], Unmap> data_;
};

}  // namespace engine::cpu::fused
