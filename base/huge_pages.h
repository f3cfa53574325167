// Large arrays lie in huge pages where the system grants them: a processor that reads here and
// there in them finds each address sooner.
#pragma once

#include <cstddef>
#include <vector>

namespace base {

// Asks for huge pages for this memory. It helps where nobody has written to it yet; a system that
// refuses them is no error.
void want_huge_pages(void* data, size_t bytes);

// Gives an empty vector `count` elements, in huge pages.
template <typename T>
void resize_in_huge_pages(std::vector<T>& values, size_t count) {
  values.reserve(count);
  want_huge_pages(values.data(), count * sizeof(T));
  values.resize(count);
}

}  // namespace base
