// Implements timeline_png() of charts.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "scheduler/charts/charts.h"
#include "scheduler/charts/sheet.h"

namespace scheduler::charts {
namespace {

constexpr double kPanelHeight = 150;
constexpr double kPanelGap = 40;
constexpr double kLeft = 70;
constexpr double kRight = 30;
constexpr double kTop = 60;
constexpr double kBottom = 50;
constexpr auto kWidth = static_cast<double>(kColumns);

constexpr std::array<std::pair<const char*, Colour>, 4> kClassColours = {
    {{"urgent", {0.80, 0.15, 0.20}},
     {"high", {0.95, 0.60, 0.15}},
     {"normal", {0.20, 0.45, 0.75}},
     {"low", {0.60, 0.70, 0.80}}}};
constexpr Colour kOtherColour{0.50, 0.50, 0.50};

Colour colour_of(const Band& band) {
  for (const auto& [name, colour] : kClassColours) {
    if (band.name == name) return colour;
  }
  return kOtherColour;
}

// 1, 2 or 5 times a power of ten, so that at most eight steps make `hours`.
double step_of(double hours) {
  const double rough = std::max(hours, 1e-6) / 8;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void draw_bands(Sheet& sheet, const Box& area, const Panel& panel, double longest) {
  const double column = area.width * panel.seconds / longest / static_cast<double>(kColumns);
  // Whole pixels, so that neighbours meet.
  const auto edge = [&](size_t i) { return std::floor(static_cast<double>(i) * column); };
  for (size_t i = 0; i < kColumns; ++i) {
    double bottom = area.y + area.height;
    for (size_t band = 0; band < panel.bands.size(); ++band) {
      if (i >= panel.bands[band].gpus.size()) continue;
      const double height = area.height * panel.bands[band].gpus[i] / panel.gpus;
      bottom -= height;
      sheet.fill({area.x + edge(i), bottom, edge(i + 1) - edge(i), height},
                 colour_of(panel.bands[band]));
    }
  }
}

void draw_panel(Sheet& sheet, const Box& area, const Panel& panel, double longest) {
  sheet.text(area.x, area.y - 12, panel.title, {.size = 14, .bold = true});
  sheet.text(area.x + area.width, area.y - 12, panel.note, {.side = Side::kRight});
  draw_bands(sheet, area, panel, longest);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = area.y + area.height * (1 - share);
    sheet.line(area.x, y, area.x + area.width, y, share == 0 ? kInk : kPale);
    sheet.text(area.x - 8, y, number_text(share * panel.gpus), {.side = Side::kRight});
  }
}

void draw_hours(Sheet& sheet, double bottom, double longest) {
  const double hours = longest / 3600;
  const double step = step_of(hours);
  for (double hour = 0; hour <= hours * 1.0001; hour += step) {
    const double x = kLeft + kWidth * hour / hours;
    sheet.line(x, bottom, x, bottom + 5, kInk);
    sheet.text(x, bottom + 15, number_text(hour), {.side = Side::kCentre});
  }
  sheet.text(kLeft + kWidth / 2, bottom + 35, "hours since the first arrival",
             {.side = Side::kCentre});
}

std::vector<Name> names_of(const std::vector<Band>& bands) {
  std::vector<Name> names;
  for (const Band& band : bands) names.push_back({.text = band.name, .colour = colour_of(band)});
  return names;
}

}  // namespace

std::string timeline_png(const std::vector<Panel>& panels) {
  const auto count = static_cast<double>(panels.size());
  const double height = kTop + count * (kPanelHeight + kPanelGap) - kPanelGap + kBottom;
  Sheet sheet(static_cast<int>(kLeft + kWidth + kRight),
              static_cast<int>(std::max(height, kTop + kBottom)));
  if (panels.empty()) return sheet.png();
  double longest = 1e-3;
  for (const Panel& panel : panels) longest = std::max(longest, panel.seconds);
  sheet.text(kLeft, 22, "GPUs that jobs hold", {.size = 14, .bold = true});
  sheet.legend({.x = kLeft + 190, .y = 15, .width = kWidth - 190}, names_of(panels.front().bands));
  double top = kTop;
  for (const Panel& panel : panels) {
    draw_panel(sheet, {kLeft, top, kWidth, kPanelHeight}, panel, longest);
    top += kPanelHeight + kPanelGap;
  }
  draw_hours(sheet, top - kPanelGap, longest);
  return sheet.png();
}

}  // namespace scheduler::charts
