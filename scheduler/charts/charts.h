// Pictures of simulations, as the bytes of PNGs: which GPUs were busy when, and how long items
// waited. Pure; the same data give the same picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace scheduler::charts {

// The GPUs that jobs of one class held, on average over each of the columns that the whole time is
// divided into.
struct Band {
  std::string name{};  // of the class; its colour is the same in every picture
  std::vector<double> gpus{};
};

struct Panel {
  std::string title{};
  std::string note{};         // beside the title
  double seconds = 0;         // that all columns span
  double gpus = 0;            // of the site
  std::vector<Band> bands{};  // most urgent first, which is drawn lowest
};

inline constexpr size_t kColumns = 900;  // of a panel

// The panels have one common scale of time, from the longest.
std::string timeline_png(const std::vector<Panel>& panels);

// Seconds, of the items of one class under one policy.
struct Waits {
  std::string group{};  // class
  std::string name{};   // policy
  double wait_median = 0;
  double wait_ninety = 0;
  double done_median = 0;
  double done_ninety = 0;
};

// Bars of the medians, each with a line up to what 90 % do not exceed, in the order given; those of
// a group must be adjacent. The scale is logarithmic.
std::string waits_png(const std::vector<Waits>& all);

}  // namespace scheduler::charts
