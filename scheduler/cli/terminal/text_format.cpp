#include "scheduler/cli/terminal/text_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "base/utf8.h"

namespace scheduler::cli {
namespace {

constexpr int kGap = 2;

// C0 and C1 controls, and the marks that reorder what follows them on the line.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_combining(uint32_t code) {
  return (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200D) ||
         (code >= 0xFE00 && code <= 0xFE0F);
}

bool is_wide(uint32_t code) {
  return (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
         (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
         (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
         (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
}

int cells_of(uint32_t code) {
  if (is_combining(code)) return 0;
  return is_wide(code) ? 2 : 1;
}

std::string escaped(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  if (bytes == "\r") return "\\r";
  std::string text;
  for (const char byte : bytes) {
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02x", static_cast<unsigned char>(byte));
    text += hex.data();
  }
  return text;
}

// Printable ASCII: each character is one cell. Nearly all texts of a long list are, and a list asks
// several times about each.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte >= ' ' && byte <= '~'; });
}

std::string make_printable(std::string_view bytes, bool keep_lines) {
  if (is_plain(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const size_t length = base::utf8_sequence(bytes);
    const std::string_view sequence = bytes.substr(0, std::max<size_t>(length, 1));
    const bool kept = keep_lines && (sequence == "\n" || sequence == "\t");
    if (kept || (length > 0 && !is_control(base::code_point(sequence)))) {
      text += sequence;
    } else {
      text += escaped(sequence);
    }
    bytes.remove_prefix(sequence.size());
  }
  return text;
}

struct Glyph {
  std::string_view bytes;
  int cells = 1;
};

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> list;
  while (!text.empty()) {
    const size_t length = base::utf8_sequence(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    list.push_back(
        {.bytes = sequence, .cells = length == 0 ? 1 : cells_of(base::code_point(sequence))});
    text.remove_prefix(sequence.size());
  }
  return list;
}

// Most texts are plain and fit, and need no copy.
void add_padded(const std::string& raw, const Column& column, int least, int most,
                std::string& out) {
  if (!is_plain(raw) || static_cast<int>(raw.size()) > most) {
    out += pad(shorten(printable(raw), most, column.cut), least, column.align);
    return;
  }
  const size_t blanks = static_cast<size_t>(std::max(0, least - static_cast<int>(raw.size())));
  if (column.align == Align::kRight) out.append(blanks, ' ');
  out += raw;
  if (column.align == Align::kLeft) out.append(blanks, ' ');
}

}  // namespace

std::string printable(std::string_view bytes) { return make_printable(bytes, false); }
std::string printable_lines(std::string_view bytes) { return make_printable(bytes, true); }

int display_width(std::string_view text) {
  if (is_plain(text)) return static_cast<int>(text.size());
  int width = 0;
  for (const Glyph& glyph : glyphs(text)) width += glyph.cells;
  return width;
}

std::string shorten(const std::string& text, int width, Cut cut) {
  if (display_width(text) <= width) return text;
  std::vector<Glyph> list = glyphs(text);
  if (cut == Cut::kStart) std::reverse(list.begin(), list.end());
  std::vector<std::string_view> kept;
  int used = 1;  // the ellipsis
  for (const Glyph& glyph : list) {
    if (used + glyph.cells > width) break;
    used += glyph.cells;
    kept.push_back(glyph.bytes);
  }
  std::string out;
  if (cut == Cut::kEnd) {
    for (const std::string_view bytes : kept) out += bytes;
    return out + "…";
  }
  for (auto bytes = kept.rbegin(); bytes != kept.rend(); ++bytes) out += *bytes;
  return "…" + out;
}

std::string pad(const std::string& text, int width, Align align) {
  const int blanks = std::max(0, width - display_width(text));
  const std::string filler(static_cast<size_t>(blanks), ' ');
  return align == Align::kLeft ? text + filler : filler + text;
}

std::string time_text(int64_t epoch) {
  if (epoch == 0) return "-";
  const std::time_t time = epoch;
  std::tm local{};
  ::localtime_r(&time, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

const char* state_style(const std::string& state) {
  if (state == "DONE") return style::kGreen;
  if (state == "ACTIVE" || state == "RUNNING") return style::kBlue;
  if (state == "FAILED" || state == "QUARANTINED" || state == "LOST") return style::kRed;
  if (state == "HELD" || state == "CANCELLED") return style::kYellow;
  return "";
}

std::vector<int> Table::widths(int width) const {
  std::vector<int> widths;
  for (const Column& column : columns_) widths.push_back(display_width(column.title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string& text = row[i].text;
      const int cells =
          is_plain(text) ? static_cast<int>(text.size()) : display_width(printable(text));
      widths[i] = std::max(widths[i], cells);
    }
  }
  if (width <= 0) return widths;
  const int gaps = kGap * (static_cast<int>(columns_.size()) - 1);
  int excess = std::accumulate(widths.begin(), widths.end(), gaps) - width;
  // The widest column that may be shortened gives way first.
  while (excess > 0) {
    int widest = -1;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].least == 0 || widths[i] <= columns_[i].least) continue;
      if (widest < 0 || widths[i] > widths[static_cast<size_t>(widest)]) {
        widest = static_cast<int>(i);
      }
    }
    if (widest < 0) break;
    --widths[static_cast<size_t>(widest)];
    --excess;
  }
  return widths;
}

std::string Table::text(int width, bool colour) const {
  const std::vector<int> cells = widths(width);
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& row) {
    const size_t begin = out.size();
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out.append(kGap, ' ');
      const bool last = i + 1 == row.size() && columns_[i].align == Align::kLeft;
      const bool styled = colour && row[i].style[0] != '\0';
      if (styled) out += row[i].style;
      add_padded(row[i].text, columns_[i], last ? 0 : cells[i], cells[i], out);
      if (styled) out += style::kReset;
    }
    const size_t end = out.find_last_not_of(' ');
    out.resize(end == out.npos || end < begin ? begin : end + 1);
    out += '\n';
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, style::kBold});
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace scheduler::cli
