#include "scheduler/api/peaks.h"

#include <algorithm>
#include <stdexcept>

#include "base/parse_number.h"

namespace scheduler::api {
namespace {

class CsvReader {
 public:
  explicit CsvReader(const std::string& text) : text_(text) {}

  std::vector<std::vector<std::string>> rows() {
    for (; at_ < text_.size(); ++at_) take(text_[at_]);
    if (!field_.empty() || !row_.empty()) end_row();
    return std::move(rows_);
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
    rows_.push_back(std::move(row_));
    row_.clear();
  }

  const std::string& text_;
  size_t at_ = 0;
  bool quoted_ = false;
  std::string field_;
  std::vector<std::string> row_;
  std::vector<std::vector<std::string>> rows_;
};

class Columns {
 public:
  Columns(const std::vector<std::string>& header, const std::string& name)
      : header_(header), name_(name) {}

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
  const std::vector<std::string>& header_;
  const std::string& name_;
};

}  // namespace

std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  return CsvReader(text).rows();
}

std::vector<PeakRow> read_peaks(const std::string& csv, const std::string& name) {
  const auto rows = parse_csv(csv);
  if (rows.empty()) throw std::runtime_error(name + ": the peak list is empty");
  const Columns columns(rows.front(), name);
  std::vector<PeakRow> peaks;
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    peaks.push_back({.x = columns.number(row, "pos_x_img"),
                     .y = columns.number(row, "pos_y_img"),
                     .z = columns.number(row, "scaled_mip"),
                     .mip = columns.number(row, "mip"),
                     .phi = columns.number(row, "phi"),
                     .theta = columns.number(row, "theta"),
                     .psi = columns.number(row, "psi"),
                     .relative_defocus = columns.number(row, "relative_defocus")});
  }
  return peaks;
}

}  // namespace scheduler::api
