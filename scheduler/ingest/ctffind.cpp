#include "scheduler/ingest/ctffind.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <vector>

#include "base/parse_number.h"

namespace scheduler::ingest {
namespace {

// Micrograph number, defocus 1, defocus 2, azimuth, phase shift, score, resolution; CTFFIND 5
// appends tilt and thickness.
constexpr size_t kColumns = 7;
constexpr std::array<const char*, kColumns> kNames = {
    "micrograph number", "defocus 1", "defocus 2", "azimuth", "phase shift", "score", "resolution"};

struct Line {
  int number = 0;
  std::vector<std::string> words;
};

std::vector<Line> data_lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    std::istringstream words(line);
    Line data{.number = number, .words = {}};
    for (std::string word; words >> word;) data.words.push_back(word);
    if (!data.words.empty() && data.words.front()[0] != '#') lines.push_back(std::move(data));
  }
  return lines;
}

// The number behind `name` in a comment; 0: there is none.
double number_in_comments(const std::string& text, const std::string& name) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const size_t at = line.starts_with('#') ? line.find(name) : std::string::npos;
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + name.size()));
    std::string word;
    words >> word;
    const auto value = base::parse_number<double>(word);
    return value && std::isfinite(*value) ? *value : 0;
  }
  return 0;
}

double number_at(const Line& line, size_t column, const std::string& name) {
  const std::string& word = line.words[column];
  const auto value = base::parse_number<double>(word);
  if (!value || !std::isfinite(*value)) {
    throw IngestError(name + ": line " + std::to_string(line.number) + ", column " +
                      std::to_string(column + 1) + " (" + kNames[column] + "): '" + word +
                      "' is not a number");
  }
  return *value;
}

double phase_shift_in_degrees(double radians, const Line& line, const std::string& name) {
  if (std::abs(radians) > 2 * std::numbers::pi) {
    throw IngestError(name + ": line " + std::to_string(line.number) + ": phase shift " +
                      line.words[4] + " is not an angle in radians, which CTFFIND writes; " +
                      "if it is in degrees, give the values with --defocus-u, --defocus-v, "
                      "--astigmatism-angle and --phase-shift");
  }
  return radians * 180 / std::numbers::pi;
}

}  // namespace

CtfAndOptics parse_ctffind(const std::string& text, const std::string& name) {
  const std::vector<Line> lines = data_lines(text);
  if (lines.empty()) throw IngestError(name + ": no line with values; is it CTFFIND's text file?");
  if (lines.size() > 1) {
    throw IngestError(name + ": " + std::to_string(lines.size()) +
                      " lines with values (a movie or a stack); one micrograph's file has one");
  }
  const Line& line = lines.front();
  if (line.words.size() < kColumns) {
    throw IngestError(name + ": line " + std::to_string(line.number) + ": " +
                      std::to_string(line.words.size()) +
                      " columns where CTFFIND writes at least " + std::to_string(kColumns) +
                      "; is it CTFFIND's text file?");
  }
  db::Ctf ctf;
  ctf.defocus_u = number_at(line, 1, name);
  ctf.defocus_v = number_at(line, 2, name);
  ctf.astigmatism_angle = number_at(line, 3, name);
  ctf.phase_shift = phase_shift_in_degrees(number_at(line, 4, name), line, name);
  ctf.source = name;
  return {.ctf = ctf, .optics = {.voltage = number_in_comments(text, "acceleration voltage:")}};
}

CtfAndOptics read_ctffind(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IngestError(path + ": cannot read the CTF file: " + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_ctffind(text.str(), path);
}

std::string expand_pattern(const std::string& pattern, const std::string& micrograph) {
  const std::filesystem::path path(micrograph);
  std::string out;
  for (size_t at = 0; at < pattern.size();) {
    const size_t end = pattern[at] == '{' ? pattern.find('}', at) : std::string::npos;
    if (end == std::string::npos) {
      out += pattern[at++];
      continue;
    }
    const std::string word = pattern.substr(at + 1, end - at - 1);
    if (word == "dir") {
      out += path.parent_path().empty() ? "." : path.parent_path().string();
    } else if (word == "stem") {
      out += path.stem().string();
    } else if (word == "name") {
      out += path.filename().string();
    } else {
      throw IngestError("--ctf " + pattern + ": unknown placeholder {" + word +
                        "}; use {dir}, {stem} or {name}");
    }
    at = end + 1;
  }
  return out;
}

bool pattern_is_constant(const std::string& pattern) {
  return pattern.find("{stem}") == std::string::npos && pattern.find("{name}") == std::string::npos;
}

}  // namespace scheduler::ingest
