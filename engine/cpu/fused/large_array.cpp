#include "engine/cpu/fused/large_array.h"

#include <sys/mman.h>

#include <new>

namespace engine::cpu::fused {

void* map_zeros(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  // That huge pages are refused is no fault: they only make the search faster.
  (void)madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

void discard(void* data, size_t bytes) {
  if (data != nullptr) (void)madvise(data, bytes, MADV_DONTNEED);
}

void Unmap::operator()(void* data) const {
  if (data != nullptr) (void)munmap(data, bytes);
}

}  // namespace engine::cpu::fused
