#include "scheduler/ingest/star.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace scheduler::ingest {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
// More than any program writes, and little enough for the memory.
constexpr size_t kMostColumns = 1000;

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

class StarReader {
 public:
  StarReader(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  std::vector<StarTable> read() {
    for (size_t at = 0; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      ++line_;
      take_line(std::string_view(text_).substr(at, end - at));
      at = end + 1;
    }
    finish_loop_header();
    return std::move(tables_);
  }

 private:
  enum class Part { kOutside, kBlock, kLoopHeader, kRows };

  [[noreturn]] void refuse(const std::string& problem) const {
    throw IngestError(name_ + ": line " + std::to_string(line_) + ": " + problem);
  }

  void take_line(std::string_view line) {
    if (line.starts_with(';')) refuse("a text of several lines, which no list of micrographs has");
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) return;
    if (!quoted_first_ && words.front().starts_with("data_")) {
      finish_loop_header();
      tables_.push_back({.name = words.front().substr(5)});
      part_ = Part::kBlock;
    } else if (!quoted_first_ && words.front() == "loop_") {
      if (part_ == Part::kOutside) refuse("'loop_' before any 'data_'");
      if (!tables_.back().columns.empty()) tables_.push_back({.name = tables_.back().name});
      part_ = Part::kLoopHeader;
    } else if (!quoted_first_ && words.front().starts_with("_") && part_ != Part::kRows) {
      take_name(words);
    } else {
      take_row(words);
    }
  }

  void take_name(const std::vector<std::string>& words) {
    if (part_ == Part::kOutside) refuse("'" + words.front() + "' before any 'data_'");
    StarTable& table = tables_.back();
    if (table.columns.size() == kMostColumns) refuse("more than 1000 columns");
    if (part_ == Part::kBlock) {
      if (words.size() != 2) refuse("'" + words.front() + "' needs one value");
      if (table.rows.empty()) table.rows.push_back({.line = line_});
      if (table.rows.front().values.size() != table.columns.size()) {
        refuse("a single value behind a loop in the same block");
      }
      table.rows.front().values.push_back(words[1]);
    }
    table.columns.push_back(words.front());
  }

  void take_row(const std::vector<std::string>& words) {
    if (part_ == Part::kLoopHeader) part_ = Part::kRows;
    if (part_ != Part::kRows) refuse("'" + words.front() + "' belongs to no column");
    StarTable& table = tables_.back();
    if (words.size() != table.columns.size()) {
      refuse(std::to_string(words.size()) + " values in a table of " +
             std::to_string(table.columns.size()) +
             " columns; a value with blanks must stand in quotes");
    }
    table.rows.push_back({.line = line_, .values = words});
  }

  void finish_loop_header() {
    if (part_ == Part::kLoopHeader && tables_.back().columns.empty()) {
      refuse("the loop before it has no columns");
    }
  }

  std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    quoted_first_ = false;
    for (size_t at = 0;;) {
      while (at < line.size() && is_blank(line[at])) ++at;
      if (at == line.size() || line[at] == '#') return words;
      const bool quoted = line[at] == '"' || line[at] == '\'';
      if (quoted && words.empty()) quoted_first_ = true;
      words.push_back(quoted ? quoted_word(line, at) : plain_word(line, at));
    }
  }

  static std::string plain_word(std::string_view line, size_t& at) {
    const size_t start = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    return std::string(line.substr(start, at - start));
  }

  // A quote inside of a text ends it only where a blank follows.
  std::string quoted_word(std::string_view line, size_t& at) const {
    const char quote = line[at];
    const size_t start = ++at;
    for (; at < line.size(); ++at) {
      const bool ends = line[at] == quote && (at + 1 == line.size() || is_blank(line[at + 1]));
      if (ends) return std::string(line.substr(start, at++ - start));
    }
    refuse(std::string("the text that begins with ") + quote + " does not end in its line");
  }

  const std::string& text_;
  const std::string& name_;
  int line_ = 0;
  Part part_ = Part::kOutside;
  bool quoted_first_ = false;  // of the line's words
  std::vector<StarTable> tables_;
};

}  // namespace

std::optional<size_t> StarTable::find(const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

bool is_star(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const size_t first = line.find_first_not_of(kBlanks);
    if (first != std::string_view::npos && line[first] != '#') {
      return line.substr(first).starts_with("data_");
    }
    at = end + 1;
  }
  return false;
}

std::vector<StarTable> parse_star(const std::string& text, const std::string& name) {
  return StarReader(text, name).read();
}

// RELION 3.1 takes no quotes at all; of the later versions, those of MetaDataTable::read() and
// nextTokenInSTAR() in its sources.
std::optional<std::string> star_value(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (std::any_of(text.begin(), text.end(), is_control)) return std::nullopt;
  if (text.find("  ") != std::string::npos) return std::nullopt;
  const bool plain = !text.empty() && text.find(' ') == std::string::npos &&
                     std::string_view("\"'#_;").find(text.front()) == std::string_view::npos &&
                     !text.starts_with("data_") && text != "loop_";
  if (plain) return text;
  for (const char quote : {'"', '\''}) {
    const bool ends_early =
        text.find(std::string{quote, ' '}) != std::string::npos || text.ends_with(quote);
    if (!ends_early) return quote + text + quote;
  }
  return std::nullopt;
}

}  // namespace scheduler::ingest
