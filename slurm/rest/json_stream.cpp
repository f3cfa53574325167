// Implements json.h: the listing of jobs, read piece by piece.
#include <stdexcept>

#include "slurm/rest/json.h"

namespace slurm {
namespace {

constexpr size_t kLongest = 16 << 20;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void JobListing::feed(std::string_view piece) {
  for (const char c : piece) {
    take(c);
    if (object_.size() > kLongest || rest_.size() > kLongest) {
      throw std::runtime_error("the listing of jobs has a part of more than 16 MB: no slurmrestd");
    }
  }
}

bool JobListing::whole() const { return ended_ && seen_jobs_ && !broken_; }

void JobListing::take(char c) {
  const bool of_object = in_jobs_ && depth_ >= 3;
  const bool between = in_jobs_ && depth_ == 2;
  if (ended_ && !is_blank(c)) broken_ = true;  // something after the end
  if (in_string_) {
    take_in_string(c);
  } else {
    // "jobs" holds objects alone; with anything else in it the listing is not understood.
    if (between && c != '{' && c != ']' && c != ',' && !is_blank(c)) broken_ = true;
    take_outside(c);
  }
  if (of_object || (between && c == '{')) {
    object_ += c;
    if (depth_ == 2 && !in_string_) finish_object();
  } else if (!between || c == ']') {
    rest_ += c;
  }
}

void JobListing::take_in_string(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
  }
  if (in_string_ && depth_ == 1) key_ += c;
}

void JobListing::take_outside(char c) {
  if (c == '"') {
    in_string_ = true;
    if (depth_ == 1) key_.clear();
  } else if (c == '{' || c == '[') {
    if (c == '[' && depth_ == 1 && key_ == "jobs") in_jobs_ = seen_jobs_ = true;
    ++depth_;
  } else if (c == '}' || c == ']') {
    --depth_;
    if (depth_ == 1) in_jobs_ = false;
    ended_ = depth_ == 0 && c == '}';
    if (depth_ < 0) broken_ = true;
  }
}

void JobListing::finish_object() {
  each_(object_);
  object_.clear();
}

}  // namespace slurm
