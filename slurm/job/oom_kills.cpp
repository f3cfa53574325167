#include "slurm/job/oom_kills.h"

#include <sstream>

#include "base/error.h"
#include "base/parse_number.h"
#include "base/read_file.h"

namespace slurm {
namespace {

// What stands behind `word` in the line that begins with it. nullopt: no line does.
std::optional<std::string> rest_of_line(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(word)) return line.substr(word.size());
  }
  return std::nullopt;
}

}  // namespace

// A file that may not be read says as little as one that is not there.
std::optional<int64_t> oom_kills(const CgroupFiles& files) try {
  const auto own = rest_of_line(base::read_file(files.own).value_or(""), "0::");
  if (!own) return std::nullopt;
  const auto events = base::read_file(files.root + *own + "/memory.events");
  const auto count = rest_of_line(events.value_or(""), "oom_kill ");
  return count ? base::parse_number<int64_t>(*count) : std::nullopt;
} catch (const base::FileError&) {
  return std::nullopt;
}

}  // namespace slurm
