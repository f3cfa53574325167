// Bytes as hexadecimal digits, in lower case.
#pragma once

#include <string>
#include <string_view>

namespace base {

inline std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    for (const int half : {value >> 4, value & 15}) text += "0123456789abcdef"[half];
  }
  return text;
}

}  // namespace base
