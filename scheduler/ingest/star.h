// Reads STAR files as RELION writes them: blocks of loops or of single values, texts in quotes.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/ingest/ingest_error.h"

namespace scheduler::ingest {

struct StarRow {
  int line = 0;
  std::vector<std::string> values{};  // as many as the table has columns
};

// A block of single values is a table of one row.
struct StarTable {
  std::string name{};                  // the part after "data_"; may be empty
  std::vector<std::string> columns{};  // with the underscore: "_rlnDefocusU"
  std::vector<StarRow> rows{};

  std::optional<size_t> find(const std::string& column) const;
};

// Whether the first line that is neither empty nor a comment begins a block.
bool is_star(const std::string& text);

// Throws IngestError naming file and line for a value outside of a block, a row whose number of
// values differs from the number of columns, an unterminated quote, or a text of several lines.
std::vector<StarTable> parse_star(const std::string& text, const std::string& name);

// A value as written in a STAR file, quoted where necessary. nullopt for a text that RELION would
// not read back: it knows no escapes in quotes, and cannot read control characters or two adjacent
// blanks.
std::optional<std::string> star_value(const std::string& text);

}  // namespace scheduler::ingest
