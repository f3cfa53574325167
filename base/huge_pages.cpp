#include "base/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

namespace base {
namespace {

// Less than this shares its pages with other memory, or gains nothing.
constexpr size_t kWorthwhile = size_t{4} << 20;

}  // namespace

void want_huge_pages(void* data, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t left = bytes;
  if (bytes < kWorthwhile || std::align(page, page, data, left) == nullptr) return;
  // They only make the program faster.
  (void)madvise(data, left / page * page, MADV_HUGEPAGE);
}

}  // namespace base
