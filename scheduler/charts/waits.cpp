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
constexpr double kMarginLeft = 70;
constexpr double kMarginRight = 30;
constexpr double kMarginTop = 70;
constexpr double kLeastWidth = 500;  // of the titles
constexpr double kBar = 22;
constexpr double kBetweenGroups = 30;
constexpr double kShortest = 10;  // seconds, at the foot of the scale

constexpr std::array<Colour, 5> kPolicyColours = {{{0.20, 0.45, 0.75},
                                                   {0.60, 0.70, 0.80},
                                                   {0.55, 0.75, 0.45},
                                                   {0.95, 0.60, 0.15},
                                                   {0.60, 0.60, 0.60}}};

constexpr std::array<std::pair<double, const char*>, 9> kTicks = {{{10, "10 s"},
                                                                   {60, "1 min"},
                                                                   {600, "10 min"},
                                                                   {3600, "1 h"},
                                                                   {36e3, "10 h"},
                                                                   {864e2, "1 d"},
                                                                   {864e3, "10 d"},
                                                                   {864e4, "100 d"},
                                                                   {864e5, "1000 d"}}};

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

double width_of(const std::vector<Waits>& all) {
  std::set<std::string> groups;
  for (const Waits& waits : all) groups.insert(waits.group);
  return kBar * static_cast<double>(all.size()) +
         kBetweenGroups * static_cast<double>(groups.size() + 1);
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
void draw_bars(Sheet& sheet, const Axis& axis, const std::vector<Waits>& all, Median median,
               Ninety ninety) {
  const std::vector<std::string> names = names_of(all);
  const double foot = axis.area.y + axis.area.height;
  double x = axis.area.x;
  double group_begin = x;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || all[i].group != all[i - 1].group) group_begin = x += kBetweenGroups;
    const double top = axis.y(median(all[i]));
    sheet.fill({x + 2, top, kBar - 4, foot - top}, colour_of(names, all[i].name));
    sheet.line(x + kBar / 2, top, x + kBar / 2, axis.y(ninety(all[i])), kInk, 2);
    x += kBar;
    if (i + 1 == all.size() || all[i + 1].group != all[i].group) {
      sheet.text((group_begin + x) / 2, foot + 15, all[i].group, {.side = Side::kCentre});
    }
  }
}

void draw_names(Sheet& sheet, const std::vector<std::string>& names) {
  double x = kMarginLeft;
  for (const std::string& name : names) {
    sheet.fill({x, 15, 14, 14}, colour_of(names, name));
    sheet.text(x + 20, 22, name);
    x += 140;
  }
}

}  // namespace

std::string waits_png(const std::vector<Waits>& all) {
  const std::vector<std::string> names = names_of(all);
  const double width =
      std::max({width_of(all), kLeastWidth, 140 * static_cast<double>(names.size())});
  Sheet sheet(static_cast<int>(kMarginLeft + width + kMarginRight),
              static_cast<int>(kMarginTop + 2 * (kHeight + kGapBetween)));
  draw_names(sheet, names);
  double longest = 60;
  for (const Waits& waits : all) {
    longest = std::max({longest, waits.wait_ninety, waits.done_ninety});
  }
  const Axis waits{{kMarginLeft, kMarginTop, width, kHeight}, longest};
  const Axis done{{kMarginLeft, kMarginTop + kHeight + kGapBetween, width, kHeight}, longest};
  draw_axis(sheet, waits, "Wait until the first job starts (bar: median, line: 90 %)");
  draw_bars(
      sheet, waits, all, [](const Waits& of) { return of.wait_median; },
      [](const Waits& of) { return of.wait_ninety; });
  draw_axis(sheet, done, "Time until the item is done (bar: median, line: 90 %)");
  draw_bars(
      sheet, done, all, [](const Waits& of) { return of.done_median; },
      [](const Waits& of) { return of.done_ninety; });
  return sheet.png();
}

}  // namespace scheduler::charts
