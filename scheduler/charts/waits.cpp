// Implements waits_png() of charts.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "scheduler/charts/charts.h"
#include "scheduler/charts/sheet.h"

namespace scheduler::charts {
namespace {

constexpr double kHeight = 260;
constexpr double kGapBetween = 60;
constexpr double kMarginLeft = 95;
constexpr double kMarginRight = 30;
constexpr double kMarginTop = 50;    // under the legend
constexpr double kLeastWidth = 600;  // of the titles
constexpr double kNarrowBar = 22;
constexpr double kWidestBar = 60;
constexpr double kBetweenGroups = 30;
constexpr double kShortest = 10;  // seconds, at the foot of the scale

constexpr std::array<Colour, 5> kPolicyColours = {{{0.20, 0.45, 0.75},
                                                   {0.60, 0.70, 0.80},
                                                   {0.55, 0.75, 0.45},
                                                   {0.95, 0.60, 0.15},
                                                   {0.60, 0.60, 0.60}}};

constexpr std::array<std::pair<double, const char*>, 10> kTicks = {{{10, "10 s or less"},
                                                                    {60, "1 min"},
                                                                    {600, "10 min"},
                                                                    {3600, "1 h"},
                                                                    {216e2, "6 h"},
                                                                    {864e2, "1 d"},
                                                                    {3456e2, "4 d"},
                                                                    {2592e3, "30 d"},
                                                                    {2592e4, "300 d"},
                                                                    {2592e5, "3000 d"}}};

struct Axis {
  Box area{};
  double longest = 0;  // seconds

  double y(double seconds) const {
    const double share =
        std::log(std::max(seconds, kShortest) / kShortest) / std::log(longest / kShortest);
    return area.y + area.height * (1 - std::min(1.0, share));
  }
};

std::vector<std::string> names_of(const std::vector<Waits>& all) {
  std::vector<std::string> names;
  for (const Waits& waits : all) {
    if (std::find(names.begin(), names.end(), waits.name) == names.end()) {
      names.push_back(waits.name);
    }
  }
  return names;
}

Colour colour_of(const std::vector<std::string>& names, const std::string& name) {
  const auto index = std::find(names.begin(), names.end(), name) - names.begin();
  return kPolicyColours.at(static_cast<size_t>(index) % kPolicyColours.size());
}

// Of a chart, and of its bars, which fill it.
struct Widths {
  double chart = 0;
  double bar = 0;
};
Widths widths_of(const std::vector<Waits>& all) {
  std::set<std::string> groups;
  for (const Waits& waits : all) groups.insert(waits.group);
  const double between = kBetweenGroups * static_cast<double>(groups.size() + 1);
  const auto bars = static_cast<double>(std::max<size_t>(1, all.size()));
  const double bar = std::clamp((kLeastWidth - between) / bars, kNarrowBar, kWidestBar);
  return {.chart = std::max(kLeastWidth, bar * bars + between), .bar = bar};
}

void draw_axis(Sheet& sheet, const Axis& axis, const std::string& title) {
  const Box& area = axis.area;
  sheet.text(area.x, area.y - 15, title, {.size = 14, .bold = true});
  for (const auto& [seconds, text] : kTicks) {
    if (seconds > axis.longest) break;
    const double y = axis.y(seconds);
    sheet.line(area.x, y, area.x + area.width, y, seconds == kShortest ? kInk : kPale);
    sheet.text(area.x - 8, y, text, {.side = Side::kRight});
  }
}

template <typename Median, typename Ninety>
void draw_bars(Sheet& sheet, const Axis& axis, const std::vector<Waits>& all, double bar,
               Median median, Ninety ninety) {
  const std::vector<std::string> names = names_of(all);
  const double foot = axis.area.y + axis.area.height;
  double x = axis.area.x;
  double group_begin = x;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].group != all[i - 1].group) group_begin = x += kBetweenGroups;
    const double top = axis.y(median(all[i]));
    sheet.fill({x + 2, top, bar - 4, foot - top}, colour_of(names, all[i].name));
    sheet.line(x + bar / 2, top, x + bar / 2, axis.y(ninety(all[i])), kInk, 2);
    x += bar;
    if (i + 1 == all.size() || all[i + 1].group != all[i].group) {
      sheet.text((group_begin + x) / 2, foot + 15, all[i].group, {.side = Side::kCentre});
    }
  }
}

}  // namespace

std::string waits_png(const std::vector<Waits>& all) {
  std::vector<Name> legend;
  const std::vector<std::string> names = names_of(all);
  for (const std::string& name : names) legend.push_back({name, colour_of(names, name)});
  const auto [width, bar] = widths_of(all);
  const double top = 15 + legend_height(legend, width) + kMarginTop;
  Sheet sheet(static_cast<int>(kMarginLeft + width + kMarginRight),
              static_cast<int>(top + 2 * (kHeight + kGapBetween)));
  sheet.legend({.x = kMarginLeft, .y = 15, .width = width}, legend);
  double longest = 60;
  for (const Waits& waits : all) {
    longest = std::max({longest, waits.wait_ninety, waits.done_ninety});
  }
  const Axis waits{{kMarginLeft, top, width, kHeight}, longest};
  const Axis done{{kMarginLeft, top + kHeight + kGapBetween, width, kHeight}, longest};
  draw_axis(sheet, waits, "Wait until the first job starts (bar: half of the items, line: 90 %)");
  draw_bars(
      sheet, waits, all, bar, [](const Waits& of) { return of.wait_median; },
      [](const Waits& of) { return of.wait_ninety; });
  draw_axis(sheet, done, "Time until the item is done (bar: half of the items, line: 90 %)");
  draw_bars(
      sheet, done, all, bar, [](const Waits& of) { return of.done_median; },
      [](const Waits& of) { return of.done_ninety; });
  return sheet.png();
}

}  // namespace scheduler::charts
