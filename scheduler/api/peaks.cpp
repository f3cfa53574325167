#include "scheduler/api/peaks.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/parse_number.h"

namespace scheduler::api {
namespace {

class CsvReader {
 public:
  using Row = std::vector<std::string>;
  CsvReader(const std::string& text, std::function<void(const Row&)> take_row)
      : text_(text), take_row_(std::move(take_row)) {}

  void read() {
    for (; at_ < text_.size(); ++at_) take(text_[at_]);
    if (!field_.empty() || !row_.empty()) end_row();
  }

 private:
  void take(char c) {
    if (quoted_) {
      take_quoted(c);
    } else if (c == '"') {
      quoted_ = true;
    } else if (c == ',') {
      end_field();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      field_ += c;
    }
  }

  void take_quoted(char c) {
    if (c != '"') {
      field_ += c;
    } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      field_ += '"';
      ++at_;
    } else {
      quoted_ = false;
    }
  }

  void end_field() {
    row_.push_back(std::move(field_));
    field_.clear();
  }

  void end_row() {
    end_field();
    take_row_(row_);
    row_.clear();
  }

  const std::string& text_;
  size_t at_ = 0;
  bool quoted_ = false;
  std::string field_;
  Row row_;
  std::function<void(const Row&)> take_row_;
};

class Columns {
 public:
  Columns(std::vector<std::string> header, const std::string& name)
      : header_(std::move(header)), name_(name) {}

  double number(const std::vector<std::string>& row, const std::string& column) const {
    const auto found = std::find(header_.begin(), header_.end(), column);
    if (found == header_.end()) throw std::runtime_error(name_ + ": no column " + column);
    const auto at = static_cast<size_t>(found - header_.begin());
    const std::string text = at < row.size() ? row[at] : "";
    const auto value = base::parse_number<double>(text);
    if (!value) {
      throw std::runtime_error(name_ + ": column " + column + ": '" + text +
                               "' is not a number; was the file changed or cut short?");
    }
    return *value;
  }

 private:
  std::vector<std::string> header_;
  const std::string& name_;
};

}  // namespace

std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  CsvReader(text, [&](const CsvReader::Row& row) { rows.push_back(row); }).read();
  return rows;
}

std::vector<PeakRow> read_peaks(const std::string& csv, const std::string& name) {
  // Row by row: as many texts as a job can put into a file do not fit into the daemon.
  std::optional<Columns> columns;
  std::vector<PeakRow> peaks;
  CsvReader(csv, [&](const CsvReader::Row& row) {
    if (!columns) {
      columns.emplace(row, name);
      return;
    }
    peaks.push_back({.x = columns->number(row, "pos_x_img"),
                     .y = columns->number(row, "pos_y_img"),
                     .z = columns->number(row, "scaled_mip"),
                     .mip = columns->number(row, "mip"),
                     .phi = columns->number(row, "phi"),
                     .theta = columns->number(row, "theta"),
                     .psi = columns->number(row, "psi"),
                     .relative_defocus = columns->number(row, "relative_defocus")});
  }).read();
  if (!columns) throw std::runtime_error(name + ": the peak list is empty");
  return peaks;
}

}  // namespace scheduler::api
