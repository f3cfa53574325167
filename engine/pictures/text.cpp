// Implements the text functions of scales.h: file names may be any bytes, but Cairo draws only
// UTF-8.
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "engine/pictures/scales.h"

namespace engine {
namespace {

constexpr const char* kEllipsis = "\xE2\x80\xA6";  // U+2026

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string plain_text(const std::string& bytes) {
  std::string text;
  const std::string valid = base::replace_invalid_utf8(bytes);
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view sequence = rest.substr(0, base::utf8_sequence(rest));
    const uint32_t code = base::code_point(sequence);
    const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    text += control ? std::string_view(" ") : sequence;
    rest.remove_prefix(sequence.size());
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
