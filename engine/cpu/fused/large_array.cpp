#include "engine/cpu/fused/large_array.h"

#include <sys/mman.h>

#include <new>

#include "base/huge_pages.h"

namespace engine::cpu::fused {

void* map_zeros(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  base::want_huge_pages(data, bytes);
  return data;
}

void discard(void* data, size_t bytes) {
  if (data != nullptr) (void)madvise(data, bytes, MADV_DONTNEED);
}

void Unmap::operator()(void* data) const {
  if (data != nullptr) (void)munmap(data, bytes);
}

}  // namespace engine::cpu::fused
