#include "scheduler/cli/findings.h"

#include <algorithm>
#include <sstream>

#include "scheduler/cli/terminal/text_format.h"

namespace scheduler::cli {
namespace {

using slurm::Finding;

constexpr int kIndent = 9;  // the width of "warning  "

struct Mark {
  const char* word;
  const char* style;
};

Mark mark_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::kGood:
      return {"ok", style::kGreen};
    case Finding::Level::kWarning:
      return {"warning", style::kYellow};
    case Finding::Level::kBad:
      return {"BAD", style::kRed};
  }
  return {"", ""};
}

// Breaks a text into lines of at most `columns` cells; all lines but the first are indented.
std::string broken(const std::string& text, int columns) {
  if (columns <= 0) return text;
  std::istringstream words(text);
  std::string lines;
  int used = kIndent;
  for (std::string word; words >> word;) {
    const int cells = display_width(word);
    if (used > kIndent && used + 1 + cells > columns) {
      lines += "\n" + std::string(kIndent, ' ');
      used = kIndent;
    } else if (used > kIndent) {
      lines += " ";
      ++used;
    }
    lines += word;
    used += cells;
  }
  return lines;
}

std::string count_text(const std::vector<Finding>& findings) {
  const auto count = [&](Finding::Level level) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& finding) { return finding.level == level; });
  };
  const auto bad = count(Finding::Level::kBad);
  const auto warnings = count(Finding::Level::kWarning);
  const std::string warned = std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
  if (bad > 0) return std::to_string(bad) + " bad, " + warned;
  return warnings > 0 ? "No check failed; " + warned + "." : "All checks passed.";
}

}  // namespace

std::string findings_text(const std::vector<Finding>& findings, int columns, bool colour) {
  std::string text;
  for (const Finding& finding : findings) {
    const Mark mark = mark_of(finding.level);
    const std::string word = pad(mark.word, kIndent, Align::kLeft);
    text += colour ? mark.style + word + style::kReset : word;
    text += broken(printable(finding.subject + ": " + finding.says), columns) + "\n";
    if (finding.advice.empty()) continue;
    text += std::string(kIndent, ' ') + broken(printable("-> " + finding.advice), columns) + "\n";
  }
  return text + "\n" + count_text(findings) + "\n";
}

}  // namespace scheduler::cli
