#include "base/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

namespace base {
namespace {

// Less memory than a huge page of x86 has none.
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

void want_huge_pages(void* data, size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t left = bytes;
  if (bytes < kHugePage || std::align(page, page, data, left) == nullptr) return;
  // They only make the program faster.
  (void)madvise(data, left / page * page, MADV_HUGEPAGE);
}

}  // namespace base
