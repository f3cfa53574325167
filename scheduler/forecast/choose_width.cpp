#include "scheduler/forecast/choose_width.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace scheduler {
namespace {

constexpr double kWorthwhile = 1.1;
constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<WidthForecast> forecasts_of(const WidthQuestion& question) {
  const int cap = question.deadline
                      ? std::max(question.rules.cap_gpus, question.rules.deadline_cap_gpus)
                      : question.rules.cap_gpus;
  EarliestStarts likely_starts(question.likely);
  EarliestStarts late_starts(question.late);
  std::vector<WidthForecast> forecasts;
  for (const Width& width : question.menu) {
    const auto wait = likely_starts.of(width);
    if (!wait) continue;
    const double run = run_seconds(question.model, question.work, width);
    // Where the late forecast has no room, nothing is certain.
    const auto late = late_starts.of(width);
    const double wait_late = late ? std::max(*wait, *late) : kNever;
    WidthForecast forecast{.width = width,
                           .wait = *wait,
                           .run = run,
                           .done_likely = *wait + run,
                           .done_late = wait_late + bounded(run, question.model, kNinetyPercent),
                           .efficiency = efficiency(question.model, question.work, width)};
    forecast.admissible =
        forecasts.empty() ||
        (width.gpus() <= cap && forecast.efficiency >= question.rules.least_efficiency);
    forecasts.push_back(forecast);
  }
  return forecasts;
}

std::vector<const WidthForecast*> admissible(const std::vector<WidthForecast>& forecasts) {
  std::vector<const WidthForecast*> chosen;
  for (const WidthForecast& forecast : forecasts) {
    if (forecast.admissible) chosen.push_back(&forecast);
  }
  return chosen;
}

bool is_done_earlier(const WidthForecast* a, const WidthForecast* b) {
  return a->done_likely < b->done_likely;
}

const WidthForecast& for_bulk(const std::vector<const WidthForecast*>& widths,
                              const WidthQuestion& question) {
  const double share =
      static_cast<double>(question.usable_gpus) / static_cast<double>(question.ready_items);
  const Width fair = widest_within(question.menu, share);
  const WidthForecast* best = widths.front();
  for (const WidthForecast* width : widths) {
    if (width->width.gpus() > fair.gpus()) break;
    if (width->done_likely <= best->done_likely) best = width;
  }
  return *best;
}

const WidthForecast& for_urgent(const std::vector<const WidthForecast*>& widths) {
  const double first =
      (*std::min_element(widths.begin(), widths.end(), is_done_earlier))->done_likely;
  return **std::find_if(widths.begin(), widths.end(), [&](const WidthForecast* width) {
    return width->done_likely <= kWorthwhile * first;
  });
}

}  // namespace

const WidthForecast& chosen(const WidthChoice& choice) {
  return *std::find_if(choice.forecasts.begin(), choice.forecasts.end(),
                       [&](const auto& forecast) { return forecast.width == choice.width; });
}

std::optional<WidthChoice> choose_width(const WidthQuestion& question) {
  WidthChoice choice{.forecasts = forecasts_of(question)};
  const auto widths = admissible(choice.forecasts);
  if (widths.empty()) return std::nullopt;
  if (question.deadline) {
    const auto in_time = std::find_if(widths.begin(), widths.end(), [&](const auto* width) {
      return width->done_late <= *question.deadline;
    });
    if (in_time != widths.end()) {
      choice.width = (*in_time)->width;
      choice.rule = WidthRule::kDeadline;
      return choice;
    }
    const WidthForecast& first =
        **std::min_element(widths.begin(), widths.end(), [](const auto* a, const auto* b) {
          return std::tuple(a->done_late, a->done_likely) <
                 std::tuple(b->done_late, b->done_likely);
        });
    choice.width = first.width;
    choice.rule = WidthRule::kAtRisk;
    choice.late_by = first.done_late - *question.deadline;
    return choice;
  }
  const WidthForecast& chosen =
      question.rules.urgent ? for_urgent(widths) : for_bulk(widths, question);
  choice.width = chosen.width;
  choice.rule = question.rules.urgent ? WidthRule::kUrgent : WidthRule::kBulk;
  return choice;
}

Width widest_within(const std::vector<Width>& menu, double gpus) {
  Width widest = menu.empty() ? Width{} : menu.front();
  for (const Width& width : menu) {
    if (width.gpus() <= gpus && widest < width) widest = width;
  }
  return widest;
}

UrgentShare share_urgent(const RuntimeModel& model, double work, const std::vector<Width>& menu,
                         const Width& of_one, int64_t items) {
  const auto count = static_cast<double>(std::max<int64_t>(1, items));
  const Width narrow = widest_within(menu, of_one.gpus() / count);
  const double in_turn = efficiency(model, work, of_one);
  const double side_by_side = efficiency(model, work, narrow) * (count + 1) / (2 * count);
  if (in_turn >= side_by_side) return {.in_turn = true, .width = of_one};
  return {.in_turn = false, .width = narrow};
}

}  // namespace scheduler
