#include "engine/results/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/io/format.h"

namespace engine {
namespace {

double finite(double value) { return std::isfinite(value) ? value : 0.0; }

double fraction(const Progress& progress) {
  if (progress.total <= 0) return 0.0;
  return std::clamp(static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0,
                    1.0);
}

// 12345678 as 12.3M.
std::string short_number(double value) {
  constexpr std::array<const char*, 5> suffixes = {"", "k", "M", "G", "T"};
  size_t suffix = 0;
  while (value >= 999.5 && suffix + 1 < suffixes.size()) {
    value /= 1000.0;
    ++suffix;
  }
  const int decimals = suffix == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return format("%.*f%s", decimals, value, suffixes[suffix]);
}

// Empty while it is not known, and where nothing is left to wait for.
std::string duration_left(const Progress& progress) {
  const double seconds = progress.state == "running" ? finite(progress.eta_seconds) : 0.0;
  return seconds > 0.0 ? base::duration_text(seconds) : "";
}

std::string time_left(const Progress& progress) {
  if (progress.state != "running") return progress.state;
  const std::string left = duration_left(progress);
  if (left.empty()) return progress.done < progress.total ? "time left unknown" : "";
  return left + " left";
}

// The time left in `room` columns, aligned to the right, in fewer words where it must be; empty
// where it is not known or does not fit.
std::string time_left_in(int room, const Progress& progress) {
  const std::string known = duration_left(progress);
  if (known.empty() && progress.state == "running") return "";
  for (const std::string& left : {time_left(progress), known}) {
    if (!left.empty() && static_cast<int>(left.size()) < room) {
      return format("%*s", room, left.c_str());
    }
  }
  return "";
}

// Empty while no z is known.
std::string best_z_text(const Progress& progress, int width) {
  const double best = finite(progress.best_z);
  return best > 0.0 ? format("best z %*.2f", width, best) : "";
}

std::string filled_bar(double part, int width, bool unicode) {
  constexpr std::array<const char*, 8> eighths = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int steps = unicode ? 8 : 1;
  const int filled = static_cast<int>(part * width * steps);
  std::string bar;
  for (int i = 0; i < width; ++i) {
    const int here = std::clamp(filled - i * steps, 0, steps);
    if (here == steps) {
      bar += unicode ? "█" : "#";
    } else {
      bar += unicode ? eighths[static_cast<size_t>(here)] : ".";
    }
  }
  return bar;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text = value;
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

void show_bar(const Progress& progress, const char* end) {
  // One column stays free: writing into the last one would scroll some terminals.
  const std::string bar = progress_bar(progress, terminal_columns() - 1, locale_is_utf8());
  std::fprintf(stderr, "\r%s\x1b[K%s", bar.c_str(), end);
  std::fflush(stderr);
}

}  // namespace

std::string progress_json(const Progress& progress) {
  // JSON has no infinity: what is not known yet is 0.
  const nlohmann::json json = {{"done", progress.done},
                               {"total", progress.total},
                               {"rate", finite(progress.rate)},
                               {"eta_seconds", finite(progress.eta_seconds)},
                               {"best_z", finite(progress.best_z)},
                               {"state", progress.state},
                               {"time", utc_time_text(std::chrono::system_clock::now())}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

bool had_begun_to_write(const std::string& progress_file) {
  std::ifstream file(progress_file, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("state")) return false;
  return json["state"] == "writing" || json["state"] == "done";
}

std::string progress_bar(const Progress& progress, int columns, bool unicode) {
  const std::string percent = format("%5.1f %%", 100.0 * fraction(progress));
  // In the order shown, and how soon each is given up on a narrow terminal. Fixed widths keep the
  // end of the bar in its place.
  const std::string done = short_number(static_cast<double>(progress.done));
  const std::string total = short_number(static_cast<double>(progress.total));
  const std::string left = time_left(progress);
  std::vector<std::pair<int, std::string>> fields = {
      {1, format("%5s/%s", done.c_str(), total.c_str())},
      {2, format("%5s/s", short_number(finite(progress.rate)).c_str())},
      {4, left.empty() ? "" : format("%16s", left.c_str())},
      {3, best_z_text(progress, 5)}};
  std::erase_if(fields, [](const auto& field) { return field.second.empty(); });
  constexpr int kSmallestBar = 6;
  const auto room = [&] {
    int used = static_cast<int>(percent.size()) + 3;  // a blank and two ends of the bar
    for (const auto& field : fields) used += static_cast<int>(field.second.size()) + 2;
    return columns - used;
  };
  while (room() < kSmallestBar && !fields.empty()) {
    fields.erase(std::min_element(fields.begin(), fields.end(),
                                  [](const auto& a, const auto& b) { return a.first < b.first; }));
  }
  const int width = room();
  if (fields.empty()) {
    const std::string tail = time_left_in(columns - static_cast<int>(percent.size()), progress);
    if (!tail.empty()) return percent + tail;
  }
  if (width < 1) return percent.substr(0, static_cast<size_t>(std::max(0, columns)));
  const char* const edge = unicode ? "│" : "|";
  std::string line = percent + ' ' + edge + filled_bar(fraction(progress), width, unicode) + edge;
  for (const auto& field : fields) line += "  " + field.second;
  return line;
}

std::string progress_line(const Progress& progress) {
  std::string line = format("%.1f %%: ", 100.0 * fraction(progress)) +
                     base::grouped_number(progress.done) + " of " +
                     base::grouped_number(progress.total) + " correlations, " +
                     short_number(finite(progress.rate)) + "/s";
  const std::string left = time_left(progress);
  if (!left.empty()) line += ", " + left;
  const std::string best = best_z_text(progress, 0);
  return best.empty() ? line : line + ", " + best;
}

ProgressReporter::ProgressReporter(std::string path)
    : path_(std::move(path)), terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressReporter::report(const Progress& progress) {
  write_file(progress);
  if (terminal_) {
    show_bar(progress, "");
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (line_shown_ && now - last_line_ < std::chrono::minutes(1)) return;
  line_shown_ = true;
  last_line_ = now;
  std::fprintf(stderr, "%s\n", progress_line(progress).c_str());
}

void ProgressReporter::finish(const Progress& progress) {
  write_file(progress);
  if (terminal_) {
    show_bar(progress, "\n");
  } else {
    std::fprintf(stderr, "%s\n", progress_line(progress).c_str());
  }
}

// A search of hours must not fail for this file: a failure is reported once, and every call tries
// again.
void ProgressReporter::write_file(const Progress& progress) {
  if (path_.empty()) return;
  try {
    base::write_file_atomically(
        path_, progress_json(progress),
        {.durability = base::Durability::kVisible, .folder = base::Folder::kMake});
  } catch (const base::FileError& error) {
    if (!failure_shown_) std::fprintf(stderr, "no progress file: %s\n", error.what());
    failure_shown_ = true;
  }
}

}  // namespace engine
