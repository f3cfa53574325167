// What ItemWidth says to users.
#include <cmath>
#include <string>

#include "base/text.h"
#include "scheduler/forecast/span_text.h"
#include "scheduler/policy/item_widths.h"

namespace scheduler {
namespace {

constexpr double kSecondsPerHour = 3600;

std::string gpus_text(const Width& width) { return base::counted(width.gpus(), "GPU"); }

const WidthForecast& first_done(const WidthChoice& choice) {
  const WidthForecast* first = nullptr;
  for (const WidthForecast& forecast : choice.forecasts) {
    if (!forecast.admissible) continue;
    if (first == nullptr || forecast.done_likely < first->done_likely) first = &forecast;
  }
  return first == nullptr ? choice.forecasts.front() : *first;
}

std::string late_text(const WidthChoice& choice) {
  if (!std::isfinite(choice.late_by)) {
    return "AT RISK: no width is certain to be done by its deadline";
  }
  return "AT RISK: it may be done " + span_text(choice.late_by) + " after its deadline";
}

std::string why(const ItemWidth& width, const WidthChoice& choice) {
  switch (choice.rule) {
    case WidthRule::kDeadline:
      return "the narrowest that is done by its deadline with 90 % certainty";
    case WidthRule::kAtRisk:
      return late_text(choice);
    case WidthRule::kBulk:
      if (width.tail) return "a whole node, which its class may have while nobody else waits";
      return width.sharing == 1
                 ? "the widest that its class may have and that is done no later than a narrower "
                   "one"
                 : base::counted(width.sharing, "ready item") + " of its class and higher ones " +
                       "share " + base::counted(width.usable_gpus, "GPU");
    case WidthRule::kUrgent:
      if (!width.in_turn) {
        return base::counted(width.urgent, "urgent item") +
               " share the GPUs, since side by side they are done sooner on average";
      }
      return first_done(choice).width == choice.width
                 ? "the width that is done first"
                 : "the narrowest that is done at most 10 % later than with " +
                       gpus_text(first_done(choice).width);
  }
  return "";
}

}  // namespace

std::string explain_instead(const ItemWidth& width) {
  if (!width.choice) return "";
  return "done in " + span_text(chosen(*width.choice).done_likely) + " instead of " +
         span_text(width.done_now);
}

std::string explain(const ItemWidth& width, const SearchTime& time, double left) {
  if (!width.choice) return "";
  std::string text = with_digits(time.work * left / kSecondsPerHour, 1) + " GPU hours";
  if (left < 1) text += " of " + with_digits(time.work / kSecondsPerHour, 1) + " left";
  if (!time.source.empty()) text += " (" + time.source + ")";
  text += "; time until done:";
  const char* comma = " ";
  for (const WidthForecast& forecast : width.choice->forecasts) {
    if (!forecast.admissible) continue;
    text += comma + gpus_text(forecast.width) + " " + span_text(forecast.done_likely);
    comma = ", ";
  }
  const WidthForecast& got = chosen(*width.choice);
  if (got.wait > 0) text += "; of this it waits " + span_text(got.wait) + " for its GPUs";
  if (width.not_placed > 0) {
    text += "; it may wait longer, since " + base::counted(width.not_placed, "job") +
            " that go first are not counted";
  }
  return text + "; " + why(width, *width.choice);
}

}  // namespace scheduler
