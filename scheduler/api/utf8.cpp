#include "scheduler/api/utf8.h"

#include <algorithm>
#include <cstdint>

namespace scheduler::api {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Over-long forms, surrogates and what lies beyond U+10FFFF show in the second byte.
bool second_byte_fits(unsigned char first, unsigned char second) {
  if (first == 0xE0) return second >= 0xA0;
  if (first == 0xED) return second <= 0x9F;
  if (first == 0xF0) return second >= 0x90;
  if (first == 0xF4) return second <= 0x8F;
  return true;
}

}  // namespace

size_t utf8_sequence(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!continuation(static_cast<unsigned char>(text[i]))) return 0;
  }
  return second_byte_fits(first, static_cast<unsigned char>(text[1])) ? length : 0;
}

bool valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string replace_invalid(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = utf8_sequence(bytes);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::string base64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const size_t digits = last ? 4 - padding : 4;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const size_t value = k < digits ? kDigits.find(text[i + k]) : 0;
      if (value == std::string_view::npos) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k + 1 < digits; ++k) {
      bytes += static_cast<char>(group >> (16 - 8 * k) & 255U);
    }
  }
  return bytes;
}

}  // namespace scheduler::api
