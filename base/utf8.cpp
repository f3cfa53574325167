#include "base/utf8.h"

namespace base {
namespace {

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

uint32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  uint32_t value = first & (0x7FU >> sequence.size());
  for (size_t i = 1; i < sequence.size(); ++i) {
    value = value << 6U | (static_cast<unsigned char>(sequence[i]) & 0x3FU);
  }
  return value;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void drop_cut_character(std::string& text) {
  for (size_t back = 1; back <= 3 && back < text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (continuation(byte)) continue;
    const size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (needed > back) text.resize(text.size() - back);
    return;
  }
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = utf8_sequence(bytes);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

}  // namespace base
