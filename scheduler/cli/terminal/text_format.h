// Text for people: safe for a terminal, aligned, short. Pure. Widths are in terminal cells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/duration.h"

namespace scheduler::cli {

using base::duration_text;

// Escapes control characters and bytes that are not UTF-8 (\n, \x1b): a file name must not control
// the terminal.
std::string printable(std::string_view bytes);
// As printable(), but keeps line breaks and tabs: for logs.
std::string printable_lines(std::string_view bytes);

// Terminal cells that printable text takes.
int display_width(std::string_view text);

enum class Cut { kStart, kEnd };  // the end that the ellipsis replaces
// Shortens text to at most `width` cells.
std::string shorten(const std::string& text, int width, Cut cut = Cut::kEnd);

enum class Align { kLeft, kRight };
// Fills text with blanks to at least `width` cells.
std::string pad(const std::string& text, int width, Align align);

std::string time_text(int64_t epoch);  // 2026-11-21 17:40:05 (local), - for 0
std::string fixed(double value, int decimals);

struct Cell {
  std::string text{};      // raw bytes
  const char* style = "";  // one of style::, empty for none
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

// The colour for an item's or an attempt's state, or for a health word.
const char* state_style(const std::string& state);

struct Column {
  std::string title{};
  Align align = Align::kLeft;
  // Least width in cells when the column is shortened because the table exceeds the terminal; 0: it
  // is never shortened.
  int least = 0;
  Cut cut = Cut::kEnd;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // The table, at most `width` cells wide if the columns allow it; 0: any width.
  std::string text(int width, bool colour) const;

 private:
  std::vector<int> widths(int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace scheduler::cli
