// Large arrays in huge pages, where the system grants them: what is read here and there in them is
// found sooner.
#pragma once

#include <cstddef>
#include <vector>

namespace base {

// Asks for huge pages for memory that nobody has written to yet; a system that refuses them is no
// error.
void want_huge_pages(void* data, size_t bytes);

// Resizes an empty vector.
template <typename T>
void resize_in_huge_pages(std::vector<T>& values, size_t count) {
  values.reserve(count);
  want_huge_pages(values.data(), count * sizeof(T));
  values.resize(count);
}

}  // namespace base
