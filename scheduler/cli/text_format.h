// Text for people: safe for a terminal, aligned, short. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scheduler::cli {

// Bytes as a terminal may see them: control characters and what is not UTF-8 become \n, \x1b, ...
std::string printable(std::string_view bytes);
// The same with line breaks and tabs left as they are: for logs.
std::string printable_lines(std::string_view bytes);

// Cells on the terminal of printable text.
int display_width(std::string_view text);

enum class Cut { kStart, kEnd };  // where the ellipsis goes
// At most `width` cells.
std::string shorten(const std::string& text, int width, Cut cut = Cut::kEnd);

enum class Align { kLeft, kRight };
// At least `width` cells.
std::string pad(const std::string& text, int width, Align align);

std::string duration_text(double seconds);  // 8 s, 3 min 20 s, 2 h 05 min, 4 d 3 h
std::string time_text(int64_t epoch);       // 2026-11-21 17:40:05 (local), - for 0
std::string size_text(int64_t bytes);       // 16.8 MB
std::string fixed(double value, int decimals);

struct Cell {
  std::string text{};   // raw bytes
  std::string style{};  // one of style::, empty for none
};

namespace style {
inline constexpr const char* kBold = "\x1b[1m";
inline constexpr const char* kDim = "\x1b[2m";
inline constexpr const char* kRed = "\x1b[31m";
inline constexpr const char* kGreen = "\x1b[32m";
inline constexpr const char* kYellow = "\x1b[33m";
inline constexpr const char* kBlue = "\x1b[34m";
inline constexpr const char* kReset = "\x1b[0m";
}  // namespace style

// For an item's or an attempt's state.
std::string state_style(const std::string& state);

struct Column {
  std::string title{};
  Align align = Align::kLeft;
  // Shortened first, down to this many cells, when the table is wider than the terminal; 0: never.
  int least = 0;
  Cut cut = Cut::kEnd;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // `width` 0: as wide as it needs.
  std::string text(int width, bool colour) const;

 private:
  std::vector<int> widths(int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace scheduler::cli
