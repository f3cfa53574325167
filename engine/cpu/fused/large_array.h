// Memory for the large arrays of a search, zeroed and in huge pages where the system grants them.
#pragma once

#include <cstddef>
#include <memory>

namespace engine::cpu::fused {

// Returns null for 0 bytes. Throws std::bad_alloc.
void* map_zeros(size_t bytes);
void discard(void* data, size_t bytes);
struct Unmap {
  size_t bytes = 0;
  void operator()(void* data) const;
};

// An array of floats or integers.
template <typename T>
class LargeArray {
 public:
  LargeArray() = default;
  // Makes `count` zeros. Throws std::bad_alloc.
  explicit LargeArray(size_t count)
      : data_(static_cast<T*>(map_zeros(count * sizeof(T))), Unmap{count * sizeof(T)}) {}

  // The elements begin at a multiple of 64 bytes.
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) const { return data_.get()[i]; }
  // Gives the memory back to the system until it is next written; it then reads as zeros. Nothing
  // happens where the memory is locked.
  void give_back() { discard(data_.get(), data_.get_deleter().bytes); }

 private:
  std::unique_ptr<T[], Unmap> data_;
};

}  // namespace engine::cpu::fused
