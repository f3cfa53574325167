#include "scheduler/cli/items/progress.h"

#include <algorithm>

#include "base/text.h"
#include "scheduler/cli/terminal/text_format.h"
#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

using nlohmann::json;

// Cells of the longest usual tail, `100.0 %  1,234/s  59 min 59 s left`, and of `  best z 12.34`,
// which narrow terminals leave out.
constexpr int kTailCells = 34;
constexpr int kBestCells = 14;
constexpr int kRoomForBest = 100;
// Narrower terminals show neither names nor rates: how much is done and the time left come first.
constexpr int kRoomForNames = 50;

double number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

double fraction_of(const Progress& progress) {
  return progress.total > 0 ? std::clamp(progress.done / progress.total, 0.0, 1.0) : 0;
}

std::string progress_tail(const std::optional<Progress>& progress, bool with_rate, bool with_best) {
  if (!progress) return "starting";
  std::string tail = pad(fixed(100 * fraction_of(*progress), 1), 5, Align::kRight) + " %";
  if (progress->state == "running") {
    if (with_rate) tail += "  " + base::rate_text(progress->rate) + "/s";
    tail += "  " + duration_text(progress->eta_seconds) + (with_rate ? " left" : "");
  } else {
    tail += "  " + progress->state;
  }
  if (with_best && progress->best_z > 0) tail += "  best z " + fixed(progress->best_z, 2);
  return tail;
}

std::string bar(double fraction, int cells) {
  const int full = static_cast<int>(fraction * cells);
  std::string text;
  for (int i = 0; i < cells; ++i) text += i < full ? "█" : "░";
  return text;
}

}  // namespace

bool has_ended(const std::string& state) {
  return state == "DONE" || state == "FAILED" || state == "CANCELLED" || state == "QUARANTINED";
}

std::optional<Progress> progress_of(const json& item) {
  const auto found = item.find("progress");
  if (found == item.end() || !found->is_object()) return std::nullopt;
  Progress progress;
  progress.done = number_in(*found, "done");
  progress.total = number_in(*found, "total");
  progress.rate = number_in(*found, "rate");
  progress.eta_seconds = number_in(*found, "eta_seconds");
  progress.best_z = number_in(*found, "best_z");
  progress.state = api::get_text(*found, "state").value_or("");
  return progress;
}

std::vector<std::string> progress_lines(const std::vector<ProgressRow>& rows, int columns) {
  int name_cells = 0;
  int number_cells = 0;
  for (const ProgressRow& row : rows) {
    name_cells = std::max(name_cells, display_width(row.name));
    number_cells = std::max(number_cells, display_width(std::to_string(row.item)));
  }
  if (columns > 0) name_cells = std::clamp(name_cells, 1, std::max(8, columns / 4));
  const bool with_names = columns <= 0 || columns >= kRoomForNames;
  const bool with_best = columns <= 0 || columns >= kRoomForBest;
  const int tail_cells = kTailCells + (with_best ? kBestCells : 0);
  std::vector<std::string> lines;
  for (const ProgressRow& row : rows) {
    std::string line = with_names ? "item " : "";
    line += pad(std::to_string(row.item), number_cells, Align::kRight);
    if (columns <= 0) {
      line += "  " + row.name;
    } else if (with_names) {
      line += "  " + pad(shorten(row.name, name_cells, Cut::kStart), name_cells, Align::kLeft);
    }
    const std::string tail = progress_tail(row.progress, with_names, with_best);
    const int bar_cells = std::min(30, columns - display_width(line) - tail_cells - 4);
    if (row.progress && with_names && bar_cells >= 5) {
      line += "  " + bar(fraction_of(*row.progress), bar_cells);
    }
    line += "  " + tail;
    lines.push_back(columns > 0 ? shorten(line, columns) : line);
  }
  return lines;
}

}  // namespace scheduler::cli
