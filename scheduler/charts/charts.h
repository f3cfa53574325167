// Charts of simulations, as the bytes of PNGs: which GPUs were busy when, and how long items
// waited. Pure; the same data give the same image.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace scheduler::charts {

// The GPUs that jobs of one class held, averaged over each of the columns into which the whole time
// is divided.
struct Band {
  std::string name{};  // the class's; its colour is the same in every chart
  std::vector<double> gpus{};
};

struct Panel {
  std::string title{};
  std::string note{};         // beside the title
  double seconds = 0;         // time that all columns span
  double gpus = 0;            // GPUs of the site
  std::vector<Band> bands{};  // most urgent first; that is drawn lowest
};

inline constexpr size_t kColumns = 900;  // of each panel

// The panels have a common time scale, that of the longest.
std::string timeline_png(const std::vector<Panel>& panels);

// Waits in seconds of the items of one class under one policy.
struct Waits {
  std::string group{};  // class
  std::string name{};   // policy
  double wait_median = 0;
  double wait_ninety = 0;
  double done_median = 0;
  double done_ninety = 0;
};

// Bars of the medians in the given order, each with a line up to the 90th percentile; those of a
// group must be adjacent. The scale is logarithmic.
std::string waits_png(const std::vector<Waits>& all);

}  // namespace scheduler::charts
