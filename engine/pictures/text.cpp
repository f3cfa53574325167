// Implements the text functions of scales.h: file names are bytes, Cairo draws UTF-8 only.
#include <cstdint>

#include "engine/pictures/scales.h"

namespace engine {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr const char* kEllipsis = "\xE2\x80\xA6";     // U+2026

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Bytes of the character that begins at `at`; 0 when none that is valid does.
size_t character_size(const std::string& text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + size > text.size()) return 0;
  uint32_t code = lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (!is_continuation(text[at + i])) return 0;
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
  }
  constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < smallest[size] || code > 0x10FFFF || surrogate ? 0 : size;
}

}  // namespace

std::string plain_text(const std::string& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = character_size(bytes, at);
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const bool control =
        lead < 0x20 || lead == 0x7F ||
        (size == 2 && lead == 0xC2 && static_cast<unsigned char>(bytes[at + 1]) < 0xA0);
    if (size == 0) {
      text += kReplacement;
    } else if (control) {
      text += ' ';
    } else {
      text.append(bytes, at, size);
    }
    at += size == 0 ? 1 : size;
  }
  return text;
}

size_t character_count(const std::string& text) {
  size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0 : 1;
  return count;
}

std::string elided_text(const std::string& text, size_t count) {
  const size_t all = character_count(text);
  if (all <= count) return text;
  const size_t kept = count > 1 ? count - 1 : 0;
  const size_t head = (kept + 1) / 2;
  const size_t tail_from = all - (kept - head);
  std::string result;
  size_t index = 0;
  for (size_t at = 0; at < text.size(); ++index) {
    size_t end = at + 1;
    while (end < text.size() && is_continuation(text[end])) ++end;
    if (index == head) result += kEllipsis;
    if (index < head || index >= tail_from) result.append(text, at, end - at);
    at = end;
  }
  return result;
}

}  // namespace engine
