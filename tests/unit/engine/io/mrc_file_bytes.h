// MRC files for tests of their reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

namespace engine {

// An MRC file put together byte by byte, so that the reader is not tested by the writer.
class MrcBytes {
 public:
  MrcBytes(int nx, int ny, int nz, int mode, bool big_endian = false) : big_endian_(big_endian) {
    bytes_.assign(1024, '\0');
    set_int(0, nx);
    set_int(4, ny);
    set_int(8, nz);
    set_int(12, mode);
    for (const size_t offset : {28, 32, 36})
      set_int(offset, offset == 28 ? nx : offset == 32 ? ny : nz);
    for (int axis = 0; axis < 3; ++axis) set_int(64 + 4 * static_cast<size_t>(axis), axis + 1);
    bytes_.replace(208, 4, "MAP ");
    bytes_.replace(212, 2, big_endian ? "\x11\x11" : "\x44\x44");
  }

  template <typename T>
  std::string encode(T value) const {
    std::string raw(sizeof(T), '\0');
    std::memcpy(raw.data(), &value, sizeof(T));
    if (big_endian_) std::reverse(raw.begin(), raw.end());
    return raw;
  }
  MrcBytes& set_int(size_t offset, int32_t value) {
    bytes_.replace(offset, 4, encode(value));
    return *this;
  }
  MrcBytes& set_float(size_t offset, float value) {
    bytes_.replace(offset, 4, encode(value));
    return *this;
  }
  MrcBytes& set_text(size_t offset, const std::string& text) {
    bytes_.replace(offset, text.size(), text);
    return *this;
  }
  MrcBytes& add_raw(const std::string& raw) {
    bytes_ += raw;
    return *this;
  }
  template <typename T>
  MrcBytes& add(std::initializer_list<T> values) {
    for (const T value : values) bytes_ += encode(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  bool big_endian_;
  std::string bytes_;
};

}  // namespace engine
