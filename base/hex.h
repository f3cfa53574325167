// Writes bytes as hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace base {

// Returns two lower-case digits for each byte.
inline std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    for (const int half : {value >> 4, value & 15}) text += "0123456789abcdef"[half];
  }
  return text;
}

// Escapes text for a URL: all bytes but letters, digits and -._~ become %XX.
inline std::string percent_encode(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    text += plain ? std::string(1, c) : "%" + upper(hex_of({&c, 1}));
  }
  return text;
}

}  // namespace base
