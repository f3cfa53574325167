// Reports the progress of a search: in a small JSON file, replaced atomically, and as a bar or a
// line for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace engine {

struct Progress {
  int64_t done = 0;  // correlations, including resumed ones
  int64_t total = 0;
  double rate = 0;  // correlations per second of this run
  double eta_seconds = 0;
  double best_z = 0;              // so far; 0: not known
  std::string state = "running";  // starting, running, writing, done, stopped
};

// Returns an object of done, total, rate, eta_seconds, best_z, state and time, which is ISO 8601 in
// UTC.
std::string progress_json(const Progress& progress);

// Whether the search that left this progress file had begun to write its results. False for a file
// that cannot be read or is not whole.
bool had_begun_to_write(const std::string& progress_file);

// Returns one line for a terminal of `columns` columns, without a line break: bar, percent, rate
// and time left. The bar is of blocks, or of # and . without `unicode`; a narrow terminal gets
// fewer fields, and in the end no bar, which says less than the time left.
std::string progress_bar(const Progress& progress, int columns, bool unicode = true);
// Returns one line for a log, without a bar or a line break.
std::string progress_line(const Progress& progress);

// Writes the file at every call (the caller limits the rate, to about one a second), and shows a
// bar when stderr is a terminal, else one line a minute.
class ProgressReporter {
 public:
  explicit ProgressReporter(std::string path);
  void report(const Progress& progress);
  void finish(const Progress& progress);

 private:
  void write_file(const Progress& progress);

  std::string path_;
  bool terminal_;
  std::chrono::steady_clock::time_point last_line_{};
  bool line_shown_ = false;
  bool failure_shown_ = false;
};

}  // namespace engine
